// What is said beside the messages: received, read, typing; and notes, which visitors do not see.
import assert from 'node:assert/strict';
import { agent, open, talk, visitor } from './peer.mjs';
import { scenario_on_shards } from './server.mjs';

const receipt = (level, seq) => (f) => f.type === 'receipt' && f.level === level && f.seq === seq;
const typing = (on) => (f) => f.type === 'typing' && f.on === on;

scenario_on_shards('received and read are told to the other side, and never go back', [], async (server) => {
  const { a, v, c } = await talk(server);
  const { seq } = await v.send(c, 'hello');
  a.say({ type: 'delivered', conversation: c, seq });
  const delivered = await v.take(receipt('delivered', seq));
  assert.deepEqual([delivered.conversation, delivered.by], [c, { kind: 'agent', id: 'a1' }]);
  a.say({ type: 'read', conversation: c, seq });
  await v.take(receipt('read', seq));
  a.say({ type: 'read', conversation: c, seq: seq - 1 });
  await a.alive();
  const reply = await a.send(c, 'good day');
  v.say({ type: 'read', conversation: c, seq: reply.seq });
  assert.deepEqual((await a.take(receipt('read', reply.seq))).by.id, 'v1');
  await v.alive();
  assert.ok(!v.frames.some(receipt('read', seq - 1)), 'a lower mark is nothing new');
});

scenario_on_shards('many marks at once are few receipts, and the last of them counts', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  for (let i = 0; i < 200; i++) await v.send(c, `${i}`);
  for (let i = 1; i <= 200; i++) a.say({ type: 'delivered', conversation: c, seq: seq + i });
  await v.take(receipt('delivered', seq + 200));
  const told = v.frames.filter((f) => f.type === 'receipt').map((f) => f.seq);
  assert.deepEqual(told, [...told].sort((x, y) => x - y));
  assert.ok(told.length <= 200);
});

scenario_on_shards('marks beyond the end and of others are refused, without a ref', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const error = (peer, code) => peer.take((f) => f.type === 'error' && f.code === code && f.conversation === c && f.ref === undefined);
  v.say({ type: 'read', conversation: c, seq: seq + 1 });
  await error(v, 'bad_field');
  const other = await agent(server, 'a2', { status: null });
  other.say({ type: 'read', conversation: c, seq });
  await error(other, 'not_yours');
  other.say({ type: 'typing', conversation: c, on: true });
  await error(other, 'not_yours');
  const stranger = await visitor(server, 'v2');
  stranger.say({ type: 'read', conversation: c, seq });
  await error(stranger, 'no_such_conversation');
  await a.get('ok', { type: 'close', conversation: c });
  await v.item(c, seq + 1);
  v.say({ type: 'typing', conversation: c, on: true });
  await error(v, 'closed');
});

scenario_on_shards('who comes back is told how far the other side is, before resumed', [], async (server) => {
  const { a, v, c } = await talk(server);
  const { seq } = await v.send(c, 'hello');
  v.drop();
  a.say({ type: 'read', conversation: c, seq });
  await a.alive();
  const back = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq }] });
  const resumed = await back.take('resumed');
  const read = await back.take(receipt('read', seq));
  assert.ok(back.index_of(read) < back.index_of(resumed));
  assert.equal(read.by.id, 'a1');
  back.say({ type: 'delivered', conversation: c, seq });
  await a.take(receipt('delivered', seq));
  const again = await agent(server, 'a1', { status: null, resume: [{ conversation: c, epoch: 1, seq }] });
  const told = await again.take(receipt('delivered', seq));
  assert.ok(again.index_of(told) < again.index_of(await again.take('resumed')));
});

scenario_on_shards('typing is told to the other side alone, with its time to live', [], async (server) => {
  const { a, v, c } = await talk(server);
  v.say({ type: 'typing', conversation: c, on: true });
  const shown = await a.take(typing(true));
  assert.deepEqual([shown.conversation, shown.from.kind, shown.from.id], [c, 'visitor', 'v1']);
  assert.ok(shown.ttl_ms >= 1_000 && shown.ttl_ms <= 60_000);
  v.say({ type: 'typing', conversation: c, on: false });
  await a.take(typing(false));
  a.say({ type: 'typing', conversation: c, on: true });
  assert.equal((await v.take(typing(true))).from.id, 'a1');
  await a.alive();
  assert.ok(!a.frames.some((f) => f.type === 'typing' && f.from.kind === 'agent'));
});

scenario_on_shards('a thousand words of typing are few pushes', [], async (server) => {
  const { a, v, c } = await talk(server);
  for (let i = 0; i < 500; i++) v.say({ type: 'typing', conversation: c, on: true });
  v.say({ type: 'typing', conversation: c, on: false });
  await v.send(c, 'done');
  await a.take('message');
  await a.alive();
  assert.ok(a.frames.filter((f) => f.type === 'typing').length <= 10);
});

scenario_on_shards('when the typist is gone, the server says that it types no longer', [], async (server) => {
  const { a, v, c } = await talk(server);
  v.say({ type: 'typing', conversation: c, on: true });
  await a.take(typing(true));
  v.drop();
  await a.take(typing(false));
  const back = await visitor(server, 'v1');
  a.say({ type: 'typing', conversation: c, on: true });
  await back.take(typing(true));
  a.drop();
  await back.take(typing(false));
});

scenario_on_shards('a note reaches agents alone; the visitor sees that there is one', [], async (server) => {
  const { a, v, c } = await talk(server);
  const laptop = await agent(server, 'a1', { status: null });
  await laptop.take('assigned');
  const colleague = await agent(server, 'a2', { status: null });
  const { seq } = await a.send(c, 'a difficult one', { kind: 'note' });
  assert.equal((await laptop.take('message')).kind, 'note');
  const hidden = await v.take((f) => f.event === 'note_hidden');
  assert.deepEqual([hidden.seq, hidden.text, hidden.from], [seq, undefined, undefined]);
  await colleague.send(c, 'give it to me', { kind: 'note' });
  assert.equal((await a.take((f) => f.kind === 'note' && f.seq === seq + 1)).from.id, 'a2');
  await colleague.refused('not_yours', { type: 'send', conversation: c, client_msg_id: 't', text: 'hello' });
  await v.refused('forbidden', { type: 'send', conversation: c, client_msg_id: 'n', text: 'mine', kind: 'note' });
  const of_agent = await colleague.get('history', { type: 'history', conversation: c });
  assert.equal(of_agent.items.filter((item) => item.kind === 'note').length, 2);
  const of_visitor = await v.get('history', { type: 'history', conversation: c });
  assert.ok(!JSON.stringify(of_visitor).includes('difficult'));
  assert.equal(of_visitor.items.filter((item) => item.event === 'note_hidden').length, 2);
  v.drop();
  const back = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: seq - 1 }] });
  await back.take('resumed');
  assert.deepEqual(back.items(c).map((item) => item.event), ['note_hidden', 'note_hidden']);
});

scenario_on_shards('a conversation that waits has nobody to tell', [], async (server) => {
  const v = await visitor(server, 'v1');
  const c = await open(v);
  v.say({ type: 'typing', conversation: c, on: true });
  v.say({ type: 'read', conversation: c, seq: 1 });
  await v.alive();
});
