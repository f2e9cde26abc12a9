// What a restart and a crash leave: acknowledged messages, once and in order, and everything that hangs on them.
import assert from 'node:assert/strict';
import { agent, is_durable, talk, up_to, visitor } from './peer.mjs';
import { kSlowness, scenario, scenario_on_shards } from './server.mjs';

const kLingerMs = Math.min(1_000, Math.round(400 * kSlowness));

scenario_on_shards('an accepted ack is followed by a durable one, for repeats, too', [], async (server) => {
  const { a, v, c } = await talk(server);
  assert.equal(v.welcome.mode, 'durable');
  for (const peer of [v, a]) {
    const send = { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' };
    const accepted = await peer.get('ack', send);
    const durable = await peer.take(is_durable(accepted.ref));
    assert.deepEqual(durable, { ...accepted, level: 'durable' });
    const again = await peer.get('ack', send);
    assert.equal(again.dup, true);
    assert.deepEqual(await peer.take(is_durable(again.ref)), { ...again, level: 'durable' });
  }
});

scenario_on_shards('mode none sends no durable ack', ['--mode', 'none'], async (server) => {
  const { v, c } = await talk(server);
  assert.equal(v.welcome.mode, 'none');
  await v.send(c, 'hello');
  await v.alive();
  assert.ok(!v.frames.some((f) => f.level === 'durable'));
});

scenario('delivery does not wait for the disk', ['--journal-linger-us', kLingerMs * 1000], async (server) => {
  const { a, v, c } = await talk(server);
  const begin = Date.now();
  const { seq, ref } = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'm', text: 'hello' });
  await a.item(c, seq);
  assert.ok(Date.now() - begin < kLingerMs, 'pushed before the commit');
  assert.ok(!v.frames.some(is_durable(ref)), 'and not durable yet');
  await v.take(is_durable(ref));
});

scenario('durable_before_deliver shows nothing that is not on disk', ['--mode', 'durable_before_deliver', '--journal-linger-us', kLingerMs * 1000], async (server) => {
  const { a, v, c } = await talk(server);
  const begin = Date.now();
  const { seq, ref } = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'm', text: 'hello' });
  assert.ok(Date.now() - begin > kLingerMs / 2, 'accepted after the commit');
  await a.item(c, seq);
  await v.take(is_durable(ref));
});

scenario_on_shards('a restart forgets nothing: items, owner, marks, repeats', [], async (server) => {
  const { a, v, c } = await talk(server);
  const said = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' });
  const note = await a.get('ack', { type: 'send', conversation: c, client_msg_id: 'n', text: 'a note', kind: 'note' });
  a.say({ type: 'read', conversation: c, seq: said.seq });
  await v.take('receipt');
  await server.restart();

  const v2 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
  const resumed = await v2.take('resumed');
  assert.deepEqual([resumed.epoch, resumed.seq], [1, note.seq], 'a clean stop starts no epoch');
  assert.deepEqual(v2.seqs(c), up_to(note.seq));
  assert.ok(v2.frames.some((f) => f.type === 'receipt' && f.seq === said.seq && f.level === 'read' && f.by.id === 'a1'));
  const again = await v2.get('ack', { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' });
  assert.deepEqual([again.dup, again.epoch, again.seq, again.ts], [true, 1, said.seq, said.ts]);
  await v2.refused('id_conflict', { type: 'send', conversation: c, client_msg_id: 'once', text: 'other' });

  const a2 = await agent(server, 'a1');
  const assigned = await a2.take('assigned');
  assert.equal(assigned.conversation, c);
  const { seq } = await a2.send(c, 'I am back');
  await v2.item(c, seq);
});

scenario_on_shards('after a crash the next item starts an epoch, and the sequence goes on', [], async (server) => {
  const { a, v, c } = await talk(server);
  const { ref, seq } = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' });
  await v.take(is_durable(ref));
  await a.item(c, seq);
  await server.crash();
  const v2 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq }] });
  await v2.take('resumed');
  assert.ok(!v2.frames.some((f) => f.type === 'gap'));
  const next = await v2.get('ack', { type: 'send', conversation: c, client_msg_id: 'next', text: 'still here' });
  assert.deepEqual([next.epoch, next.seq], [2, seq + 1]);
  // What somebody believes to have seen beyond the end is a gap.
  const v3 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: seq + 2 }] });
  const gap = await v3.take('gap');
  assert.deepEqual([gap.from, gap.to, gap.reason], [seq + 1, seq + 2, 'ahead']);
});

scenario_on_shards('a restart keeps the places in the queue, and presence set by hand', [], async (server) => {
  const a = await agent(server, 'a1', { claims: { capacity: 1 } });
  await a.get('ok', { type: 'presence', status: 'online' });
  const places = [];
  for (const id of ['v1', 'v2', 'v3', 'v4']) {
    const v = await visitor(server, id);
    places.push((await v.get('opened', { type: 'open', group: 'sales' })).conversation);
    await v.alive();
  }
  await server.restart();
  const waiting = await Promise.all(['v2', 'v3', 'v4'].map((id, i) => visitor(server, id, { resume: [{ conversation: places[i + 1], epoch: 1, seq: 0 }] })));
  await Promise.all(waiting.map((v) => v.take('resumed')));
  const a2 = await agent(server, 'a1', { status: null, claims: { capacity: 1 } });
  assert.equal((await a2.take('assigned')).conversation, places[0]);
  for (const place of places.slice(1)) {
    await a2.get('ok', { type: 'close', conversation: places[places.indexOf(place) - 1] });
    assert.equal((await a2.take('assigned')).conversation, place, 'online since before the restart, in the order of opening');
  }
});

scenario_on_shards('a closed conversation is still closed, and can be reopened and read', [], async (server) => {
  const { v, c } = await talk(server);
  await v.get('ok', { type: 'close', conversation: c });
  await server.restart();
  const v2 = await visitor(server, 'v1');
  await v2.refused('closed', { type: 'send', conversation: c, client_msg_id: 'late', text: 'late' });
  const { items } = await v2.get('history', { type: 'history', conversation: c });
  assert.equal(items.at(-1).event, 'closed');
  const opened = await v2.get('opened', { type: 'open', conversation: c });
  assert.equal(opened.conversation, c);
  assert.equal(opened.seq, items.at(-1).seq + 1);
});
