// Who is told what, and in which order.
import assert from 'node:assert/strict';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { scenario_on_shards } from './server.mjs';

scenario_on_shards('a message goes to all other connections of both sides and not back to its sender', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const v2 = await visitor(server, 'v1', { name: 'Vera' });
  const a2 = await agent(server, 'a1', { status: null });
  await a2.take('assigned');
  const { seq: said } = await v.send(c, 'from the visitor', { client_msg_id: 'q1' });
  const { seq: answered } = await a.send(c, 'from the agent');
  assert.deepEqual([said, answered], [seq + 1, seq + 2]);
  for (const peer of [a, a2, v2]) {
    const { type, epoch, from, client_msg_id, kind, text } = await peer.item(c, said);
    assert.deepEqual({ type, epoch, client_msg_id, kind, text }, { type: 'message', epoch: 1, client_msg_id: 'q1', kind: 'text', text: 'from the visitor' });
    assert.deepEqual([from.kind, from.id], ['visitor', 'v1']);
  }
  for (const peer of [v, v2, a2]) assert.equal((await peer.item(c, answered)).from.kind, 'agent');
  await v.alive();
  await a.alive();
  assert.ok(!v.seqs(c).includes(said), 'not back to the visitor’s own connection');
  assert.ok(!a.seqs(c).includes(answered), 'not back to the agent’s own connection');
});

scenario_on_shards('`opened` stands for event 1 at the opener only', [], async (server) => {
  const v = await visitor(server, 'v1');
  const v2 = await visitor(server, 'v1');
  const c = await open(v);
  assert.equal((await v2.item(c, 1)).event, 'opened');
  const { seq } = await v.send(c, 'x');
  await v2.item(c, seq);
  await v.alive();
  assert.ok(!v.seqs(c).includes(1));
});

scenario_on_shards('`assigned` stands for its event at the new owner, whose pushes start behind it', [], async (server) => {
  const a = await agent(server, 'a1');
  const v = await visitor(server, 'v1', { name: 'Vera' });
  const c = await open(v, 'sales', { attributes: { page: '/price' } });
  const assigned = await a.take('assigned');
  assert.equal(assigned.conversation, c);
  assert.equal(assigned.group, 'sales');
  assert.equal(assigned.visitor.id, 'v1');
  assert.equal(assigned.visitor.name, 'Vera');
  assert.deepEqual(assigned.visitor.attributes, { page: '/price' });
  assert.ok(assigned.accept_ms > 0);
  const event = await v.item(c, assigned.seq);
  assert.deepEqual([event.event, event.owner_epoch], ['assigned', assigned.owner_epoch]);
  for (let i = 0; i < 3; i++) await v.send(c, `text ${i}`);
  await a.item(c, assigned.seq + 3);
  assert.deepEqual(a.seqs(c), up_to(assigned.seq + 3, assigned.seq + 1));
});

scenario_on_shards('events reach both sides, the causer included', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  assert.equal((await a.item(c, seq)).event, 'accepted');
  assert.equal((await v.item(c, seq)).event, 'accepted');
  await v.get('ok', { type: 'close', conversation: c });
  for (const peer of [a, v]) assert.equal((await peer.item(c, seq + 1)).event, 'closed');
});

scenario_on_shards('notes reach agents; a visitor sees that its numbers stay whole, and no word of them', [], async (server) => {
  const { a, v, c } = await talk(server);
  const a2 = await agent(server, 'a1', { status: null });
  await a2.take('assigned');
  const { seq } = await a.send(c, 'a secret remark', { kind: 'note' });
  assert.deepEqual([(await a2.item(c, seq)).kind, (await a2.item(c, seq)).text], ['note', 'a secret remark']);
  assert.equal((await v.item(c, seq)).event, 'note_hidden');
  const { items } = await v.get('history', { type: 'history', conversation: c });
  assert.equal(items.at(-1).event, 'note_hidden');
  const late = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
  await late.take('resumed');
  assert.deepEqual(late.seqs(c), up_to(seq));
  for (const peer of [v, late]) assert.doesNotMatch(JSON.stringify(peer.frames), /secret remark/);
});

scenario_on_shards('other agents of the group may note and read, and get no pushes', [], async (server) => {
  const { a, v, c } = await talk(server);
  const other = await agent(server, 'a9', { status: 'away' });
  const { seq } = await other.send(c, 'I know this visitor', { kind: 'note' });
  assert.equal((await a.item(c, seq)).text, 'I know this visitor');
  const { items } = await other.get('history', { type: 'history', conversation: c });
  assert.equal(items.at(-1).text, 'I know this visitor');
  await other.refused('not_yours', { type: 'send', conversation: c, client_msg_id: 'x1', text: 'me too' });
  await v.send(c, 'more');
  await a.item(c, seq + 1);
  await other.alive();
  assert.deepEqual(other.items(c), []);
});

scenario_on_shards('the answer to a request precedes every push that it caused', [], async (server) => {
  const a = await agent(server, 'a1');
  for (let round = 0; round < 10; round++) {
    const v = await visitor(server, `v${round}`);
    const opened = await v.get('opened', { type: 'open', group: 'sales' });
    const c = opened.conversation;
    const assigned = await v.take((f) => f.event === 'assigned');
    assert.ok(v.index_of(opened) < v.index_of(assigned), 'opened before assigned');
    await a.take((f) => f.type === 'assigned' && f.conversation === c);
    const ok = await a.get('ok', { type: 'accept', conversation: c });
    const accepted = await a.take((f) => f.event === 'accepted' && f.conversation === c);
    assert.ok(a.index_of(ok) < a.index_of(accepted), 'ok before accepted');
    const closing = await v.get('ok', { type: 'close', conversation: c });
    const closed = await v.take((f) => f.event === 'closed');
    assert.ok(v.index_of(closing) < v.index_of(closed), 'ok before closed');
    await a.take((f) => f.type === 'unassigned' && f.conversation === c);
  }
});

// Elsewhere the question appeared after its answer. It must not, in any view, however busy the server is.
scenario_on_shards('under load every view has the same order', ['--rate-visitor', '0/0', '--rate-agent', '0/0'], async (server) => {
  const kMessages = 400;
  const { a, v, c, seq } = await talk(server);
  const v2 = await visitor(server, 'v1');
  const a2 = await agent(server, 'a1', { status: null });
  await a2.take('assigned');
  for (const peer of [v, a]) {
    for (let i = 0; i < kMessages; i++) {
      peer.say({ type: 'send', ref: 1_000_000 + i, conversation: c, client_msg_id: `${peer.id}-${i}`, text: `${peer.id} ${i}` });
    }
  }
  const last = seq + 2 * kMessages;
  for (const peer of [v2, a2]) await peer.item(c, last);
  const view = (items) => items.filter((i) => i.seq > seq).map((i) => `${i.seq} ${i.client_msg_id}`);
  const expected = view(v2.items(c));
  assert.deepEqual(v2.seqs(c).filter((s) => s > seq), up_to(last, seq + 1));
  assert.deepEqual(view(a2.items(c)), expected);
  for (const peer of [v, a]) {
    const acks = (peer_) => peer_.frames.filter((f) => f.type === 'ack' && f.level === 'accepted');
    await peer.until(() => acks(peer).length >= kMessages && acks(peer).length + peer.items(c).filter((i) => i.seq > seq).length >= 2 * kMessages, 'all acks and pushes');
    const seen = peer.frames.filter((f) => (f.type === 'message' || f.level === 'accepted') && f.seq > seq);
    assert.deepEqual(view(seen), expected, `${peer.id} sees acks and pushes in order`);
  }
  const mine = v2.items(c).filter((i) => i.from?.id === 'a1').map((i) => i.text);
  assert.deepEqual(mine, up_to(kMessages - 1, 0).map((i) => `a1 ${i}`), 'one sender’s messages keep their order');
});
