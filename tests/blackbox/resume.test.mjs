// Losing the connection and coming back: nothing lost, nothing twice, nothing out of order.
import assert from 'node:assert/strict';
import { Peer, agent, is_durable, open, talk, up_to, visitor } from './peer.mjs';
import { Server, kSlowness, scenario, scenario_on_shards } from './server.mjs';

const at = (conversation, seq, epoch = 1) => ({ resume: [{ conversation, epoch, seq }] });

// Elsewhere an agent missed a colleague's reply during a drop of the socket, and answered over it.
scenario_on_shards('an agent gets exactly what its other connection wrote meanwhile, then live traffic', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const a2 = await agent(server, 'a1', { status: null });
  await a2.take('assigned');
  a.drop();
  for (let i = 1; i <= 3; i++) await a2.send(c, `text ${i}`);
  const back = await agent(server, 'a1', { status: null, ...at(c, seq) });
  const resumed = await back.take('resumed');
  assert.deepEqual([resumed.epoch, resumed.seq], [1, seq + 3]);
  assert.deepEqual(back.seqs(c), up_to(seq + 3, seq + 1));
  await v.send(c, 'live');
  await back.item(c, seq + 4);
  assert.deepEqual(back.seqs(c), up_to(seq + 4, seq + 1));
});

// Elsewhere a stale widget silently reopened a chat that was resolved.
scenario_on_shards('a visitor who was away learns of `closed` before any send is answered', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  v.drop();
  await a.get('ok', { type: 'close', conversation: c, reason: 'solved' });
  await a.take('unassigned');
  const back = await Peer.open(server);
  const hello = { type: 'hello', version: 1, role: 'visitor', site: 'demo', token: server.token('visitor', 'v1'), device: 'stale' };
  back.say({ ...hello, ...at(c, seq) });
  back.say({ type: 'send', ref: 8, conversation: c, client_msg_id: 'stale', text: 'are you there?' });
  const answer = await back.take((f) => f.ref === 8);
  assert.equal(answer.code, 'closed');
  const closed = back.items(c).find((i) => i.event === 'closed');
  assert.equal(closed?.seq, seq + 1);
  assert.ok(back.index_of(closed) < back.index_of(answer));
});

// Elsewhere recovery failed for a client that had received nothing yet.
scenario_on_shards('a client that received nothing yet resumes at 0 and gets everything from 1', [], async (server) => {
  const v = await visitor(server, 'v1');
  const c = await open(v);
  v.drop();
  const back = await visitor(server, 'v1', at(c, 0));
  const resumed = await back.take('resumed');
  assert.equal(resumed.seq, 1);
  const items = back.items(c);
  assert.deepEqual(items.map((i) => [i.type, i.event, i.seq]), [['event', 'opened', 1]]);
  assert.equal((await back.send(c, 'hello')).seq, 2);
});

// Elsewhere each recovery delivered the same items again.
scenario_on_shards('three resumes without traffic bring nothing', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  v.drop();
  for (let i = 0; i < 3; i++) {
    const back = await visitor(server, 'v1', at(c, seq));
    assert.equal((await back.take('resumed')).seq, seq);
    await back.alive();
    assert.deepEqual(back.items(c), []);
    back.drop();
  }
  const back = await visitor(server, 'v1', at(c, seq));
  await a.send(c, 'live');
  await back.item(c, seq + 1);
  assert.deepEqual(back.seqs(c), [seq + 1]);
});

// Elsewhere the server said "caught up" for a cursor that it did not know.
scenario_on_shards('a cursor that the server does not know gets a gap, then what there is', [], async (server) => {
  const { c, seq } = await talk(server);
  const invented = await visitor(server, 'v1', at(c, 3, 77));
  const unknown = await invented.take('gap');
  assert.deepEqual([unknown.conversation, unknown.epoch, unknown.from, unknown.to, unknown.reason], [c, 77, 1, 3, 'unknown_epoch']);
  await invented.take('resumed');
  assert.deepEqual(invented.seqs(c), up_to(seq));

  const ahead = await visitor(server, 'v1', at(c, seq + 5));
  const gap = await ahead.take('gap');
  assert.deepEqual([gap.conversation, gap.from, gap.to, gap.reason], [c, seq + 1, seq + 5, 'ahead']);
  const resumed = await ahead.take('resumed');
  assert.deepEqual([resumed.epoch, resumed.seq], [1, seq]);
  assert.deepEqual(ahead.items(c), []);
  assert.ok(ahead.index_of(gap) < ahead.index_of(resumed));
});

scenario('a cursor out of all bounds is refused or a gap, and never an end of the server', [], async (server) => {
  const { c, seq } = await talk(server);
  for (const cursor of [{ seq: -1 }, { seq: 2 ** 53 }, { seq: 1e300 }, { seq: '1' }, { epoch: -1 }, { conversation: 'x'.repeat(65) }, { conversation: 5 }]) {
    const peer = await Peer.open(server);
    const resume = [{ conversation: c, epoch: 1, seq, ...cursor }];
    peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token: server.token('visitor', 'v1'), device: 'odd', resume });
    await peer.until(() => peer.frames.some((f) => ['error', 'gap', 'resumed'].includes(f.type)), `an answer to ${JSON.stringify(cursor)}`);
  }
  await visitor(server, 'v2');
});

// Elsewhere client and server disagreed about a position after a restart, and resumed for ever. Without what was, as on another data folder,
// that is said once, and is the end of it.
scenario('after a restart a resume is settled within one reconnect', [], async (server) => {
  const { c, seq } = await talk(server);
  await server.stop();
  const other = await Server.start(['--secret-file', server.secret_file]);
  try {
    other.secret = server.secret;
    const back = await visitor(other, 'v1', at(c, seq));
    const gap = await back.take('gap');
    assert.deepEqual([gap.conversation, gap.epoch, gap.from, gap.to, gap.reason], [c, 0, 0, 0, 'no_such_conversation']);
    await back.alive();
    assert.deepEqual(back.frames.filter((f) => f.type === 'gap' || f.type === 'resumed').length, 1, 'nothing more');
    const fresh = await open(back);
    assert.equal((await back.send(fresh, 'hello')).seq, 2);
  } finally {
    other.dispose();
  }
});

// … with what was: the crash has undone what the visitor believes to have seen.
scenario_on_shards('after a crash a resume from beyond the end is settled within one reconnect', [], async (server) => {
  const { v, c } = await talk(server);
  const { seq, ref } = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'm', text: 'hello' });
  await v.take(is_durable(ref));
  await server.crash();
  let cursor = { seq: seq + 3, epoch: 1 };
  const told = [];
  for (let i = 0; i < 3; i++) {
    const back = await visitor(server, 'v1', at(c, cursor.seq, cursor.epoch));
    cursor = await back.take('resumed');
    await back.alive();
    told.push(back.frames.filter((f) => ['gap', 'resumed', 'message', 'event'].includes(f.type)).map((f) => [f.type, f.reason, f.seq]));
    back.drop();
  }
  assert.deepEqual(told, [
    [['gap', 'ahead', undefined], ['resumed', undefined, seq]],
    [['resumed', undefined, seq]],
    [['resumed', undefined, seq]],
  ]);
});

scenario_on_shards('a long absence is caught up in order, live items behind the missed ones', ['--rate-agent', '0/0'], async (server) => {
  const kMissed = 450; // more than two pages
  const { a, v, c, seq } = await talk(server);
  v.drop();
  for (let i = 0; i < kMissed; i++) a.say({ type: 'send', ref: 1_000_000 + i, conversation: c, client_msg_id: `b-${i}`, text: `text ${i}` });
  const back = visitor(server, 'v1', at(c, seq));
  for (let i = 0; i < 50; i++) a.say({ type: 'send', ref: 2_000_000 + i, conversation: c, client_msg_id: `l-${i}`, text: `live ${i}` });
  const v2 = await back;
  await v2.item(c, seq + kMissed + 50);
  assert.deepEqual(v2.seqs(c), up_to(seq + kMissed + 50, seq + 1));
  assert.equal(v2.frames.filter((f) => f.type === 'resumed').length, 1);
});

scenario_on_shards('pages longer than the soft limit follow each other to the end', ['--rate-agent', '0/0', '--soft-limit-bytes', '32768'], async (server) => {
  const kMissed = 450;
  const { a, v, c, seq } = await talk(server);
  v.drop();
  for (let i = 0; i < kMissed; i++) a.say({ type: 'send', ref: 1_000_000 + i, conversation: c, client_msg_id: `b-${i}`, text: `text ${i}` });
  await a.take((f) => f.ref === 1_000_000 + kMissed - 1);
  const back = await visitor(server, 'v1', at(c, seq));
  assert.equal((await back.take('resumed')).seq, seq + kMissed);
  assert.deepEqual(back.seqs(c), up_to(seq + kMissed, seq + 1));
  await a.send(c, 'live');
  await back.item(c, seq + kMissed + 1);
});

scenario_on_shards('several conversations are resumed by one hello', [], async (server) => {
  const v = await visitor(server, 'v1');
  const c1 = await open(v, 'sales');
  const c2 = await open(v, 'support');
  await v.send(c1, 'one');
  await v.send(c2, 'two');
  v.drop();
  const resume = [c1, 'no-such', c2].map((conversation) => ({ conversation, epoch: 1, seq: 1 }));
  const back = await visitor(server, 'v1', { resume });
  await back.take((f) => f.type === 'resumed' && f.conversation === c1);
  await back.take((f) => f.type === 'resumed' && f.conversation === c2);
  assert.equal((await back.take('gap')).conversation, 'no-such');
  assert.deepEqual([back.seqs(c1), back.seqs(c2)], [[2], [2]]);
});

scenario_on_shards('an agent who does not own a conversation is told `unassigned` alone', [], async (server) => {
  const { c, seq } = await talk(server);
  const other = await agent(server, 'a2', { status: null, ...at(c, seq) });
  assert.equal((await other.take('unassigned')).conversation, c);
  await other.alive();
  assert.deepEqual(other.frames.filter((f) => f.type === 'resumed' || f.type === 'gap'), []);
  assert.deepEqual(other.items(c), []);
});

scenario('a visitor cannot resume what belongs to another', [], async (server) => {
  const { c } = await talk(server);
  const thief = await visitor(server, 'v2', at(c, 0));
  await thief.take((f) => f.type === 'gap' || f.type === 'error');
  await thief.alive();
  assert.deepEqual(thief.items(c), []);
});
