// What visitors who wait are told, and the agent they know.
import assert from 'node:assert/strict';
import { agent, open, up_to, visitor } from './peer.mjs';
import { scenario_on_shards } from './server.mjs';

/** Visitors with a conversation each, opened one after the other. */
async function waiting(server, names) {
  const all = [];
  for (const name of names) {
    const v = await visitor(server, name);
    all.push({ v, opened: await v.get('opened', { type: 'open', group: 'sales' }) });
  }
  return all;
}

scenario_on_shards('the estimated wait is there from the fifth wait on, and grows with the position', [], async (server) => {
  const a = await agent(server, 'a1', { status: 'away' });
  for (const i of up_to(5)) {
    const [{ v, opened }] = await waiting(server, [`v${i}`]);
    assert.equal(opened.eta_ms, undefined, `after ${i - 1} waits`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await a.get('ok', { type: 'take', conversation: opened.conversation });
    await v.take((f) => f.event === 'accepted');
    await v.get('ok', { type: 'close', conversation: opened.conversation });
  }
  const [first, second] = await waiting(server, ['w1', 'w2']);
  assert.ok(first.opened.eta_ms >= 20);
  assert.equal(second.opened.eta_ms, 2 * first.opened.eta_ms);
  await first.v.get('ok', { type: 'close', conversation: first.opened.conversation });
  const queue = await second.v.take('queue');
  assert.deepEqual([queue.position, queue.eta_ms], [1, first.opened.eta_ms]);
});

scenario_on_shards('a visitor who comes back gets the agent of the last time, if that one is free', [], async (server) => {
  const agents = new Map();
  for (const id of ['a1', 'a2', 'a3']) agents.set(id, await agent(server, id, { capacity: 2 }));
  const v = await visitor(server, 'v1');
  const assigned_to = async (c) => (await v.take((f) => f.event === 'assigned' && f.conversation === c)).agent;
  const first = await open(v);
  const known = await assigned_to(first);
  await agents.get(known).send(first, 'hello'); // accepts
  await v.get('ok', { type: 'close', conversation: first });
  for (let i = 0; i < 3; i++) {
    const c = await open(v);
    assert.equal(await assigned_to(c), known);
    await v.get('ok', { type: 'close', conversation: c });
  }
  await v.get('opened', { type: 'open', conversation: first }); // the same conversation again
  assert.equal(await assigned_to(first), known);
  await v.get('ok', { type: 'close', conversation: first });
  await agents.get(known).get('ok', { type: 'presence', status: 'away' });
  assert.notEqual(await assigned_to(await open(v)), known);
});

// A chat that was closed and is opened again goes on where it was.
scenario_on_shards('a reopened conversation waits, is taken, and is closed again', [], async (server) => {
  const a = await agent(server, 'a1', { status: 'away' });
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await a.get('ok', { type: 'take', conversation: c });
  await a.send(c, 'hello');
  await a.get('ok', { type: 'close', conversation: c, reason: 'solved' });
  await v.take((f) => f.event === 'closed');
  await v.refused('closed', { type: 'send', conversation: c, client_msg_id: 'm1', text: 'one more thing' });
  const [{ opened: other }] = await waiting(server, ['v2']);
  const reopened = await v.get('opened', { type: 'open', conversation: c });
  assert.deepEqual([reopened.conversation, reopened.state], [c, 'queued']);
  const event = await v.take((f) => f.event === 'reopened');
  assert.equal(event.group, 'sales');
  const { position } = await v.take((f) => f.type === 'queue' && f.conversation === c);
  assert.equal(position, 2, `behind ${other.conversation}`);
  await v.send(c, 'one more thing');
  await a.get('ok', { type: 'take', conversation: c });
  const assigned = await a.take((f) => f.type === 'assigned' && f.owner_epoch > 1);
  assert.equal(assigned.conversation, c);
  const page = await a.get('history', { type: 'history', conversation: c });
  assert.deepEqual(page.items.map((item) => item.seq), up_to(assigned.seq));
  await v.get('ok', { type: 'close', conversation: c });
  await a.take((f) => f.event === 'closed' && f.seq > assigned.seq);
});
