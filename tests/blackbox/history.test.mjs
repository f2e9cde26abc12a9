// History that outlives memory: pages of the store behind those of memory, the HTTP API, a store that is emptied. One that is stopped: slow_store.test.mjs.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metrics, pair } from './chatter.mjs';
import { caught_up, say_many, whole_history } from './history_reader.mjs';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { postgres_scenario } from './postgres.mjs';
import { scenario } from './server.mjs';

const kFew = ['--history-items', 100, '--rate-visitor', 0, '--rate-agent', 0];

/** Opens a conversation as soon as the disk has one that is closed and may leave memory for it. */
async function open_once_there_is_room(peer) {
  for (;;) {
    const answer = await peer.ask({ type: 'open', group: 'sales' });
    if (answer.type === 'opened') return answer.conversation;
    assert.equal(answer.code, 'overloaded', JSON.stringify(answer));
    assert.ok(answer.retryable);
    await sleep(20);
  }
}

const json = async (response) => {
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
};

scenario('10,000 messages: history without a seam down to the first, and a resume at 9,999', kFew, async (server) => {
  const chat = await pair(server, 1);
  const c = chat.conversation;
  await chat.visitor.send_many(c, 10_000, 500);
  const v = await visitor(server, 'v1');
  const [last] = (await v.get('history', { type: 'history', conversation: c, limit: 1 })).items;
  const items = await whole_history(v, c);
  assert.deepEqual(items.map((item) => item.seq), up_to(last.seq));
  const texts = items.filter((item) => item.type === 'message');
  assert.deepEqual(texts.map((item) => item.client_msg_id), Array.from({ length: 10_000 }, (_, i) => `m${i}`));
  assert.deepEqual(await whole_history(await agent(server, 'a1'), c), items, 'the agent sees the same');
  const again = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: last.seq - 1 }] });
  await again.take('resumed');
  assert.deepEqual(again.seqs(c), [last.seq]);

  // The same pages take the same time, however far back they are.
  const time_of = async (before) => {
    const began = performance.now();
    for (let i = 0; i < 20; i++) await v.get('history', { type: 'history', conversation: c, before, limit: 50 });
    return performance.now() - began;
  };
  await time_of(5_000);
  const [late, early] = [await time_of(9_000), await time_of(60)];
  assert.ok(early < 10 * late + 200, `${early} ms for the oldest, ${late} ms for younger ones`);
});

scenario('a visitor sees that there was a note, in the store as in memory, and the agent what it says', kFew, async (server) => {
  const { a, v, c } = await talk(server);
  const note = await a.send(c, 'not for visitors', { kind: 'note' });
  const last = await say_many(v, c, 0, 300);
  const seen = (await whole_history(v, c)).find((item) => item.seq === note.seq);
  assert.equal(seen.event, 'note_hidden');
  assert.ok(!JSON.stringify(await whole_history(v, c)).includes('not for visitors'));
  assert.equal((await whole_history(a, c)).find((item) => item.seq === note.seq).text, 'not for visitors');
  assert.ok(last.seq > 300);
});

scenario('a closed conversation that has left memory is read by those whom it belongs to', [...kFew, '--conversations-max', 4], async (server) => {
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await say_many(v, c, 0, 3);
  await v.get('ok', { type: 'close', conversation: c });
  const items = await whole_history(v, c);
  for (let i = 2; i < 12; i++) {
    const other = await visitor(server, `v${i}`);
    await other.get('ok', { type: 'close', conversation: await open_once_there_is_room(other) });
  }
  assert.deepEqual(await whole_history(v, c), items);
  assert.deepEqual(await whole_history(await agent(server, 'a1'), c), items);
  await (await visitor(server, 'v2')).refused('no_such_conversation', { type: 'history', conversation: c });
  await (await agent(server, 'a2', { claims: { groups: ['support'] } })).refused('not_yours', { type: 'history', conversation: c });
  await v.refused('no_such_conversation', { type: 'history', conversation: c.replace(/.$/, 'x') });
}, { shards: 1 });

scenario('the HTTP API lists, finds, shows and exports what was said', kFew, async (server) => {
  const { a, v, c } = await talk(server);
  await say_many(v, c, 0, 250);
  await a.send(c, 'eine Anfrage über Öl & Gas');
  const other = await visitor(server, 'v2');
  const second = await open(other, 'support');
  await other.get('ok', { type: 'close', conversation: second });
  await sleep(50); // the close is durable

  const { conversations } = await json(await server.api('/v1/conversations'));
  assert.deepEqual(conversations.map((row) => [row.conversation, row.visitor, row.group, row.state, row.agent]), [
    [second, 'v2', 'support', 'closed', 'a1'],
    [c, 'v1', 'sales', 'active', 'a1'],
  ]);
  const ids = async (query) => (await json(await server.api(`/v1/conversations?${query}`))).conversations.map((row) => row.conversation);
  assert.deepEqual(await ids('state=closed'), [second]);
  assert.deepEqual(await ids('agent=a1&state=active'), [c]);
  assert.deepEqual(await ids('visitor=v2'), [second]);
  assert.deepEqual(await ids(`q=${encodeURIComponent('über Öl & Gas')}`), [c]);
  assert.deepEqual(await ids('q=nothing+of+this'), []);
  const page = await json(await server.api('/v1/conversations?limit=1'));
  assert.deepEqual(await ids(`limit=1&cursor=${page.cursor}`), [c]);

  const one = await json(await server.api(`/v1/conversations/${c}`));
  assert.equal(one.seq, conversations[1].seq);
  assert.equal(one.facts.visitor, 'v1');
  let items = [];
  for (let after = 0, more = true; more; after = items.at(-1).seq) {
    const next = await json(await server.api(`/v1/conversations/${c}/items?after=${after}&limit=100`));
    items.push(...next.items);
    more = next.more;
  }
  assert.deepEqual(items, await whole_history(a, c));
  const latest = await json(await server.api(`/v1/conversations/${c}/items?limit=3`));
  assert.deepEqual(latest.items, items.slice(-3));
  const before = await json(await server.api(`/v1/conversations/${c}/items?before=4`));
  assert.deepEqual(before.items.map((item) => item.seq), [1, 2, 3]);
  assert.equal(before.more, false);

  const exported = await server.api('/v1/visitors/v1/export');
  assert.equal(exported.headers.get('content-type'), 'application/jsonl');
  const lines = (await exported.text()).trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines[0].visitor, 'v1');
  assert.deepEqual(lines.slice(1), items);

  for (const [path, status] of [
    ['/v1/conversations/nobody', 404],
    ['/v1/conversations/nobody/items', 404],
    ['/v1/conversations?state=gone', 400],
    ['/v1/conversations?cursor=x', 400],
    ['/v1/conversations?unknown=1', 400],
    ['/v1/conversations?limit=201', 400],
    [`/v1/conversations/${c}/items?before=1&after=1`, 400],
  ]) {
    assert.equal((await server.api(path)).status, status, path);
  }
  assert.equal((await fetch(`${server.http}/v1/conversations`)).status, 401);
}, { admin: true });

scenario('without a store history ends where memory does', [...kFew, '--store', 'none'], async (server) => {
  const { v, c } = await talk(server);
  const last = await say_many(v, c, 0, 300);
  assert.deepEqual((await whole_history(v, c)).map((item) => item.seq), up_to(last.seq).slice(-100));
  assert.equal((await server.api('/v1/conversations')).status, 404);
}, { admin: true });

scenario('an emptied store is built again from the journal', kFew, async (server) => {
  const { v, c } = await talk(server);
  const last = await say_many(v, c, 0, 1_000);
  await caught_up(server);
  for (const how of ['crash', 'restart']) {
    for (const end of ['', '-wal', '-shm']) rmSync(join(server.data, `history.db${end}`), { force: true });
    await server[how]();
    const back = await visitor(server, 'v1');
    assert.deepEqual((await whole_history(back, c)).map((item) => item.seq), up_to(last.seq));
  }
});

scenario('retention takes nothing that is not too old', [...kFew, '--retention-days', 1], async (server) => {
  const { v, c } = await talk(server);
  await say_many(v, c, 0, 200);
  await caught_up(server);
  assert.equal((await whole_history(v, c)).at(0).seq, 1);
  assert.equal((await metrics(server)).taut_store_expired_total, 0);
});

postgres_scenario('a server stops in time while PostgreSQL hangs', kFew, async (server, postgres) => {
  const { v, c } = await talk(server);
  await say_many(v, c, 0, 500);
  await caught_up(server);
  postgres.pause();
  await say_many(v, c, 500, 600);
  await sleep(500); // the archive is in the middle of it
});
