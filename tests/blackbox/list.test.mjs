// What agents see of the open conversations.
import assert from 'node:assert/strict';
import { agent, open, up_to, visitor } from './peer.mjs';
import { scenario_on_shards } from './server.mjs';

/** The conversations of all pages. */
async function list(peer, scope) {
  const all = [];
  for (let cursor; ; ) {
    const page = await peer.get('list', { type: 'list', scope, cursor });
    assert.ok(page.conversations.length <= 50);
    all.push(...page.conversations);
    cursor = page.cursor;
    if (cursor === undefined) return all;
  }
}

const ids = (entries) => entries.map((entry) => entry.conversation);

scenario_on_shards('each scope, in the order of opening', [], async (server) => {
  const a = await agent(server, 'a1', { capacity: 1 });
  assert.deepEqual(await list(a, 'all'), []);
  const names = { claims: { name: 'Robin "R" \u{1F600}' } };
  const v1 = await visitor(server, 'v1', names);
  const c1 = await open(v1);
  const c2 = await open(await visitor(server, 'v2'));
  const c3 = await open(await visitor(server, 'v3'), 'support');
  await a.get('ok', { type: 'accept', conversation: c1 });
  const [mine] = await list(a, 'mine');
  assert.deepEqual(
    [mine.conversation, mine.group, mine.state, mine.visitor, mine.agent, mine.owner_epoch, mine.epoch, mine.seq],
    [c1, 'sales', 'active', { id: 'v1', name: 'Robin "R" \u{1F600}' }, 'a1', 1, 1, 3],
  );
  assert.deepEqual(ids(await list(a, 'queued')), [c2, c3]);
  assert.deepEqual(ids(await list(a, 'all')), [c1, c2, c3]);
  const other = await agent(server, 'a2', { status: null, claims: { groups: ['support'] } });
  assert.deepEqual(ids(await list(other, 'all')), [c3], 'of its groups alone');
  assert.deepEqual(await list(other, 'mine'), []);
  await v1.get('ok', { type: 'close', conversation: c1 });
  await a.take('unassigned');
  assert.ok(!ids(await list(a, 'all')).includes(c1));
});

scenario_on_shards('pages go on where the last one ended, whatever happens between', [], async (server) => {
  const a = await agent(server, 'a1', { status: 'away' });
  const opened = [];
  for (const i of up_to(120)) {
    const v = await visitor(server, `v${i}`, { name: i % 3 ? 'x'.repeat(200) : '"'.repeat(250) });
    opened.push({ v, c: await open(v) });
  }
  assert.deepEqual(ids(await list(a, 'queued')), opened.map(({ c }) => c));
  const first = await a.get('list', { type: 'list', scope: 'all' });
  await opened[0].v.get('ok', { type: 'close', conversation: opened[0].c });
  const second = await a.get('list', { type: 'list', scope: 'all', cursor: first.cursor });
  assert.equal(second.conversations[0].conversation, opened[first.conversations.length].c);
});

scenario_on_shards('who may not list, and how not', [], async (server) => {
  const v = await visitor(server, 'v1');
  await v.refused('forbidden', { type: 'list', scope: 'all' });
  const a = await agent(server, 'a1');
  await a.refused('bad_field', { type: 'list', scope: 'everything' });
  await a.refused('bad_field', { type: 'list', scope: 'all', cursor: 'x' });
  await a.refused('bad_field', { type: 'list', scope: 'all', cursor: '99999999999999999999999' });
});
