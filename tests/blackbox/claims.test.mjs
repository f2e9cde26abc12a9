// Agents take conversations and give them away.
import assert from 'node:assert/strict';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { kSlowness, scenario_on_shards } from './server.mjs';

const kAcceptMs = 600 * kSlowness;

const event = (kind) => (f) => f.type === 'event' && f.event === kind;

scenario_on_shards('an agent who is away takes what waits, and has accepted it', ['--accept-ms', kAcceptMs], async (server) => {
  const a = await agent(server, 'a1', { status: 'away' });
  const v = await visitor(server, 'v1');
  const c = await open(v);
  const ok = await a.get('ok', { type: 'take', conversation: c });
  const assigned = await a.take('assigned');
  assert.ok(a.index_of(ok) < a.index_of(assigned), 'the answer precedes the push');
  assert.deepEqual([assigned.conversation, assigned.accept_ms, assigned.visitor.id], [c, 0, 'v1']);
  const accepted = await v.take(event('accepted'));
  assert.deepEqual([accepted.agent, accepted.owner_epoch, accepted.seq], ['a1', assigned.owner_epoch, assigned.seq]);
  assert.deepEqual(v.seqs(c), up_to(3, 2)); // assigned, accepted
  await a.get('ok', { type: 'take', conversation: c }); // one's own
  await new Promise((resolve) => setTimeout(resolve, kAcceptMs * 1.5));
  await v.send(c, 'still there?');
  assert.equal((await a.take('message')).seq, 4);
  assert.ok(!a.frames.some((f) => f.type === 'unassigned'), 'nothing timed out');
});

// Elsewhere two agents took the same chat.
scenario_on_shards('of 100 agents who take the same conversation at once one wins', [], async (server) => {
  const agents = await Promise.all(up_to(100).map((i) => agent(server, `a${i}`, { status: i % 3 === 0 ? 'online' : 'away' })));
  const v = await visitor(server, 'v1');
  const c = await open(v);
  const answers = await Promise.all(agents.map((a) => a.ask({ type: 'take', conversation: c })));
  const winners = agents.filter((_, i) => answers[i].type === 'ok');
  assert.equal(winners.length, 1);
  assert.ok(answers.every((f) => f.type === 'ok' || f.code === 'taken'));
  assert.equal((await v.take(event('accepted'))).agent, winners[0].id);
  await winners[0].send(c, 'hello');
  for (const a of agents.filter((a) => a !== winners[0]).slice(0, 10)) {
    await a.refused('not_yours', { type: 'send', conversation: c, client_msg_id: 'm', text: 'mine' });
  }
});

scenario_on_shards('an offer to another is taken, and the other is told', [], async (server) => {
  const a1 = await agent(server, 'a1', { capacity: 1 });
  const a2 = await agent(server, 'a2', { status: 'busy' });
  const c = await open(await visitor(server, 'v1'));
  const offer = await a1.take('assigned');
  await a2.get('ok', { type: 'take', conversation: c });
  assert.ok((await a2.take('assigned')).owner_epoch > offer.owner_epoch);
  const lost = await a1.take('unassigned');
  assert.deepEqual([lost.conversation, lost.reason, lost.owner_epoch], [c, 'taken', offer.owner_epoch]);
  await a1.refused('taken', { type: 'accept', conversation: c });
});

scenario_on_shards('what may not be taken', [], async (server) => {
  const { a, v, c } = await talk(server);
  const other = await agent(server, 'a2', { capacity: 1 });
  await other.refused('taken', { type: 'take', conversation: c });
  const stranger = await agent(server, 'a3', { claims: { groups: ['support'] } });
  await stranger.refused('taken', { type: 'take', conversation: c });
  await v.refused('forbidden', { type: 'take', conversation: c });
  await a.refused('no_such_conversation', { type: 'take', conversation: 'c000-0-0' });
  await open(await visitor(server, 'v2'));
  await other.take('assigned'); // now it is full
  await a.get('ok', { type: 'presence', status: 'away' });
  const waiting = await open(await visitor(server, 'v3'));
  assert.equal((await other.refused('capacity', { type: 'take', conversation: waiting })).retryable, true);
  await stranger.refused('not_yours', { type: 'take', conversation: waiting });
  await v.get('ok', { type: 'close', conversation: c });
  await other.refused('closed', { type: 'take', conversation: c });
});

scenario_on_shards('a transfer to an agent needs an accept', [], async (server) => {
  const { a, v, c } = await talk(server);
  const b = await agent(server, 'a2', { status: 'away' });
  const ok = await a.get('ok', { type: 'transfer', conversation: c, to: { agent: 'a2' } });
  const lost = await a.take('unassigned');
  assert.ok(a.index_of(ok) < a.index_of(lost));
  assert.equal(lost.reason, 'transferred');
  const assigned = await b.take('assigned');
  const transferred = await v.take(event('transferred'));
  assert.deepEqual([transferred.agent, transferred.owner_epoch, transferred.seq], ['a2', assigned.owner_epoch, assigned.seq]);
  assert.ok(assigned.accept_ms > 0);
  await b.get('ok', { type: 'accept', conversation: c });
  await b.send(c, 'I take over');
  assert.equal((await v.take('message')).from.id, 'a2');
});

scenario_on_shards('a transfer that is not accepted goes to the queue', ['--accept-ms', kAcceptMs], async (server) => {
  const { a, v, c } = await talk(server);
  await a.get('ok', { type: 'presence', status: 'away' });
  const b = await agent(server, 'a2', { status: 'busy' });
  await a.get('ok', { type: 'transfer', conversation: c, to: { agent: 'a2' } });
  assert.equal((await b.take('assigned')).conversation, c);
  assert.equal((await b.take('unassigned')).reason, 'timeout');
  assert.equal((await v.take(event('requeued'))).reason, 'timeout');
  assert.equal((await v.take('queue')).position, 1);
});

scenario_on_shards('a transfer to a group waits there, and brings it a new agent', [], async (server) => {
  const { a, v, c } = await talk(server);
  await a.get('ok', { type: 'transfer', conversation: c, to: { group: 'support' } });
  assert.equal((await a.take('unassigned')).reason, 'transferred');
  const transferred = await v.take(event('transferred'));
  assert.deepEqual([transferred.group, transferred.agent], ['support', undefined]);
  assert.equal((await v.take('queue')).position, 1);
  const s = await agent(server, 's1', { claims: { groups: ['support'] } });
  assert.equal((await s.take('assigned')).group, 'support');
  await s.get('ok', { type: 'accept', conversation: c });
  await a.get('history', { type: 'history', conversation: c }); // its token names support as well
});

scenario_on_shards('what may not be transferred, and to whom', [], async (server) => {
  const { a, v, c } = await talk(server);
  const to = (target) => ({ type: 'transfer', conversation: c, to: target });
  const b = await agent(server, 'a2', { capacity: 1 });
  await b.refused('not_yours', to({ agent: 'a2' }));
  await v.refused('forbidden', to({ agent: 'a2' }));
  assert.equal((await a.refused('capacity', to({ agent: 'nobody' }))).retryable, false);
  await agent(server, 'a3', { status: 'offline' });
  assert.equal((await a.refused('capacity', to({ agent: 'a3' }))).retryable, false);
  await agent(server, 'a4', { claims: { groups: ['support'] } });
  await a.refused('forbidden', to({ agent: 'a4' }));
  await a.refused('bad_field', to({ group: 'nowhere' }));
  await open(await visitor(server, 'v2'));
  await b.take('assigned');
  assert.equal((await a.refused('capacity', to({ agent: 'a2' }))).retryable, true);
  await a.get('ok', to({ agent: 'a1' })); // to oneself: nothing changes
  await v.get('ok', { type: 'close', conversation: c });
  await a.refused('closed', to({ agent: 'a2' }));
});

// Elsewhere the old agent went on receiving after a transfer.
scenario_on_shards('after a transfer in the middle of a burst the old agent gets nothing more', [], async (server) => {
  const { a, v, c } = await talk(server);
  const b = await agent(server, 'a2', { status: 'away' });
  const burst = (from, to) => up_to(to, from).forEach((i) => v.say({ type: 'send', ref: 1000 + i, conversation: c, client_msg_id: `b${i}`, text: `${i}` }));
  burst(1, 100);
  const answer = a.get('ok', { type: 'transfer', conversation: c, to: { agent: 'a2' } });
  burst(101, 200);
  await answer;
  const lost = await a.take('unassigned');
  burst(201, 300);
  await b.take('assigned');
  await a.refused('not_yours', { type: 'send', conversation: c, client_msg_id: 'late', text: 'late' });
  const last = (await v.take((f) => f.type === 'ack' && f.client_msg_id === 'b300')).seq;
  await b.item(c, last);
  await a.alive();
  const after = a.frames.slice(a.index_of(lost) + 1).filter((f) => f.conversation === c && f.type !== 'error');
  assert.deepEqual(after, [], 'nothing after unassigned');
  const { seq } = b.frames.find((f) => f.type === 'assigned');
  assert.deepEqual(b.seqs(c), up_to(last, seq + 1), 'and the new agent everything from there');
});
