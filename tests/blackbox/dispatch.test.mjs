// Who is offered which conversation, and when.
import assert from 'node:assert/strict';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { kSlowness, scenario_on_shards } from './server.mjs';

const kAcceptMs = 1_000 * kSlowness; // long enough to accept in time on a busy machine
const kGraceMs = 400 * kSlowness;

/** The next offer to this agent, which must be this conversation. */
async function offered(peer, conversation) {
  const assigned = await peer.take('assigned');
  assert.equal(assigned.conversation, conversation);
  return assigned;
}

scenario_on_shards('nobody is offered anything before they are online, in a group of theirs', [], async (server) => {
  const silent = await agent(server, 'a1', { status: null });
  const away = await agent(server, 'a2', { status: 'away' });
  const elsewhere = await agent(server, 'a3', { claims: { groups: ['support'] } });
  const v = await visitor(server, 'v1');
  const { state, position, conversation } = await v.get('opened', { type: 'open', group: 'sales' });
  assert.deepEqual([state, position], ['queued', 1]);
  for (const peer of [silent, away, elsewhere]) {
    await peer.alive();
    assert.ok(!peer.frames.some((f) => f.type === 'assigned'), peer.id);
  }
  await away.get('ok', { type: 'presence', status: 'online' });
  await offered(away, conversation);
});

scenario_on_shards('the queue tells each its place and moves up', [], async (server) => {
  const visitors = [];
  for (const i of up_to(3)) {
    const v = await visitor(server, `v${i}`);
    const opened = await v.get('opened', { type: 'open', group: 'sales' });
    assert.equal(opened.position, i);
    visitors.push({ v, c: opened.conversation });
  }
  await visitors[0].v.get('ok', { type: 'close', conversation: visitors[0].c });
  await visitors[1].v.take((f) => f.type === 'queue' && f.position === 1);
  await visitors[2].v.take((f) => f.type === 'queue' && f.position === 2);
});

scenario_on_shards('the offer tells the subject that the visitor gave, and nothing when there was none', [], async (server) => {
  const a = await agent(server, 'a1');
  const v = await visitor(server, 'v1');
  const subject = 'Pegs & "guy ropes"';
  const { conversation } = await v.get('opened', { type: 'open', group: 'sales', subject });
  assert.equal((await offered(a, conversation)).subject, subject);
  const other = await v.get('opened', { type: 'open', group: 'support' });
  assert.ok(!('subject' in (await offered(a, other.conversation))));
});

// Elsewhere an agent with limit 3 got a fourth. Whatever is assigned, accepted, declined, timed out and closed, the load stays within the capacity.
scenario_on_shards('an agent with capacity 3 never has a fourth', ['--accept-ms', '150'], async (server) => {
  const kVisitors = 24;
  let random = 20_261_130;
  const draw = () => (random = (random * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const agents = [await agent(server, 'a1'), await agent(server, 'a2')];
  const visitors = await Promise.all(up_to(kVisitors).map((i) => visitor(server, `v${i}`)));
  await Promise.all(visitors.map((v) => open(v)));
  const closed = new Set();
  const act = async (peer, handled) => {
    for (const frame of peer.frames.slice(handled)) {
      if (frame.type !== 'assigned') continue;
      const choice = draw();
      const conversation = frame.conversation;
      if (choice < 0.2) await peer.ask({ type: 'decline', conversation });
      else if (choice < 0.3) continue; // lets it time out
      else if ((await peer.ask({ type: 'accept', conversation })).type === 'ok') {
        if ((await peer.ask({ type: 'close', conversation })).type === 'ok') closed.add(conversation);
      }
    }
  };
  const handled = new Map(agents.map((peer) => [peer, 0]));
  for (let round = 0; round < 40 && closed.size < kVisitors / 2; round++) {
    for (const peer of agents) {
      const length = peer.frames.length;
      await act(peer, handled.get(peer));
      handled.set(peer, length);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.ok(closed.size > 0, 'something happened');
  for (const peer of agents) {
    await peer.alive();
    const held = new Set();
    for (const frame of peer.frames) {
      if (frame.type === 'assigned') held.add(frame.conversation);
      if (frame.type === 'unassigned') held.delete(frame.conversation);
      assert.ok(held.size <= 3, `${peer.id} holds ${[...held]}`);
    }
  }
});

// Elsewhere the oldest waiting chat was passed over when a place came free.
scenario_on_shards('a place that comes free goes to the oldest at once', [], async (server) => {
  const a = await agent(server, 'a1', { capacity: 1 });
  const conversations = [];
  for (const i of up_to(3)) conversations.push(await open(await visitor(server, `v${i}`)));
  const [first, second, third] = conversations;
  await offered(a, first);
  await a.get('ok', { type: 'accept', conversation: first });
  await a.alive();
  assert.equal(a.frames.filter((f) => f.type === 'assigned').length, 1, 'the capacity of presence holds');
  await a.get('ok', { type: 'close', conversation: first });
  await offered(a, second);
  await a.get('ok', { type: 'close', conversation: second });
  await offered(a, third);
});

// Elsewhere an agent never answered, and the chat stayed with them.
scenario_on_shards('an offer that nobody takes goes back to its old place in the queue', ['--accept-ms', kAcceptMs], async (server) => {
  const [v1, v2, v3] = await Promise.all(up_to(3).map((i) => visitor(server, `v${i}`)));
  const a1 = await agent(server, 'a1', { capacity: 1 });
  const c1 = await open(v1);
  const { accept_ms } = await offered(a1, c1);
  assert.equal(accept_ms, kAcceptMs);
  const c2 = await open(v2);
  const c3 = await open(v3);
  assert.equal((await a1.take('unassigned')).reason, 'timeout');
  assert.equal((await v1.take((f) => f.event === 'requeued')).conversation, c1);
  await offered(a1, c2); // the first is not offered to the same agent again so soon
  await a1.get('ok', { type: 'accept', conversation: c2 });
  const a2 = await agent(server, 'a2', { capacity: 1 });
  await offered(a2, c1); // it is older than the third, though that has waited in the queue all the time
  await a2.get('ok', { type: 'accept', conversation: c1 });
  await a2.get('ok', { type: 'close', conversation: c1 });
  await offered(a2, c3);
});

scenario_on_shards('declined goes to another agent', [], async (server) => {
  const a1 = await agent(server, 'a1');
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await offered(a1, c);
  await a1.get('ok', { type: 'decline', conversation: c });
  const a2 = await agent(server, 'a2');
  const { owner_epoch } = await offered(a2, c);
  assert.ok(owner_epoch > 1);
});

scenario_on_shards('an agent who has gone loses its conversations after the grace, and not before its return', ['--agent-grace-ms', kGraceMs], async (server) => {
  const { a, v, c } = await talk(server);
  a.drop();
  const back = await agent(server, 'a1', { status: null });
  assert.equal((await back.take('assigned')).conversation, c);
  back.drop();
  const requeued = await v.take((f) => f.event === 'requeued');
  assert.equal(requeued.reason, 'offline');
  const other = await agent(server, 'a2');
  await offered(other, c);
});

scenario_on_shards('offline means no more offers, and coming online brings what waits', [], async (server) => {
  const a = await agent(server, 'a1');
  await a.get('ok', { type: 'presence', status: 'offline' });
  const c = await open(await visitor(server, 'v1'));
  await a.alive();
  assert.ok(!a.frames.some((f) => f.type === 'assigned'));
  await a.get('ok', { type: 'presence', status: 'online' });
  await offered(a, c);
});

// Elsewhere telling presence to all ate the CPU. The last of many words wins, and the agent is asked for nothing meanwhile.
scenario_on_shards('of 1,000 words about presence the last one counts', [], async (server) => {
  const a = await agent(server, 'a1', { status: 'away' });
  const v = await visitor(server, 'v1');
  for (let i = 1; i <= 1_000; i++) a.say({ type: 'presence', ref: 10_000 + i, status: i % 2 ? 'busy' : 'away' });
  a.say({ type: 'presence', ref: 20_000, status: 'online' });
  await a.take((f) => f.ref === 20_000);
  await offered(a, await open(v));
  for (let i = 1; i <= 100; i++) a.say({ type: 'presence', ref: 30_000 + i, status: i % 2 ? 'online' : 'offline' });
  await a.take((f) => f.ref === 30_100);
  a.drop();
  const back = await agent(server, 'a1', { status: null });
  await open(await visitor(server, 'v2'), 'support');
  await back.alive();
  assert.equal(back.frames.filter((f) => f.type === 'assigned').length, 1, 'offline it left, offline it came back');
});
