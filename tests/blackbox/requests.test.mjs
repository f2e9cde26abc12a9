// Each request and its answer, and what a wrong one is told; the connection stays.
import assert from 'node:assert/strict';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { kCarrier, scenario, scenario_on_shards, websocket_only } from './server.mjs';

websocket_only(scenario)('frames that are no requests are errors and keep the connection', [], async (server) => {
  const peer = await visitor(server, 'v1');
  const cases = [
    ['{', ['bad_json']],
    ['', ['bad_json']],
    ['{"type":"ping","ref":1} x', ['bad_json']],
    ['[1,2]', ['bad_json', 'bad_field']],
    ['17', ['bad_json', 'bad_field']],
    ['{"ref":1}', ['bad_field', 'unknown_type']],
    ['{"type":7,"ref":1}', ['bad_field', 'unknown_type']],
    ['{"type":"fly","ref":1}', ['unknown_type']],
  ];
  for (const [text, codes] of cases) {
    peer.say(text);
    const { code } = await peer.take('error');
    assert.ok(codes.includes(code), `${text} → ${code}`);
  }
  await peer.alive();
});

scenario('fields that are missing, of another type or out of range are bad_field', [], async (server) => {
  const v = await visitor(server, 'v1');
  const a = await agent(server, 'a1');
  const c = await open(v);
  const send = { type: 'send', conversation: c, client_msg_id: 'm1', text: 'x' };
  for (const wrong of [
    { text: undefined },
    { client_msg_id: undefined },
    { client_msg_id: '' },
    { client_msg_id: 'white\tspace' },
    { client_msg_id: 'é' },
    { client_msg_id: 'x'.repeat(65) },
    { conversation: undefined },
    { kind: 'shout' },
    ...(kCarrier === 'websocket' ? [{ text: 5 }, { conversation: 7 }, { client_msg_id: 'white space' }] : []),
  ]) {
    await v.refused('bad_field', { ...send, ...wrong });
  }
  await v.refused('bad_field', { type: 'open', group: 'no-such-group' });
  await v.refused('bad_field', { type: 'history', conversation: c, limit: 201 });
  await a.refused('bad_field', { type: 'presence', status: 'asleep' });
  await a.refused('bad_field', { type: 'presence', status: 'online', capacity: -1 });
  assert.deepEqual((await v.get('history', { type: 'history', conversation: c })).items.filter((i) => i.type === 'message'), []);
});

websocket_only(scenario)('a ref that is not an unsigned 32-bit number is bad_field, its bounds are fine', [], async (server) => {
  const peer = await visitor(server, 'v1');
  for (const ref of ['-1', '4294967296', '1.5', '"1"']) {
    peer.say(`{"type":"ping","ref":${ref}}`);
    assert.equal((await peer.take('error')).code, 'bad_field', ref);
  }
  for (const ref of [0, 4294967295]) {
    peer.say({ type: 'ping', ref });
    assert.equal((await peer.take('pong')).ref, ref);
  }
});

scenario('unknown fields are ignored', [], async (server) => {
  const peer = await visitor(server, 'v1');
  await peer.get('pong', { type: 'ping', later: { version: [2] } });
});

scenario('requests of the other role are forbidden', [], async (server) => {
  const { a, v, c } = await talk(server);
  await v.refused('forbidden', { type: 'presence', status: 'online' });
  await v.refused('forbidden', { type: 'accept', conversation: c });
  await v.refused('forbidden', { type: 'decline', conversation: c });
  await v.refused('forbidden', { type: 'send', conversation: c, client_msg_id: 'n1', text: 'x', kind: 'note' });
  await a.refused('forbidden', { type: 'open', group: 'sales' });
  const barred = await visitor(server, 'v2', { claims: { open: false } });
  await barred.refused('forbidden', { type: 'open', group: 'sales' });
});

scenario_on_shards('conversations of nobody and of others are refused', [], async (server) => {
  const { c } = await talk(server);
  const stranger = await visitor(server, 'v-stranger');
  const outsider = await agent(server, 'a-outsider', { claims: { groups: ['support'] } });
  for (const peer of [stranger, outsider]) {
    for (const request of [{ type: 'history' }, { type: 'close' }, { type: 'send', client_msg_id: 'm1', text: 'x' }]) {
      await peer.refused('no_such_conversation', { ...request, conversation: 'no-such' });
      const { type, code } = await peer.ask({ ...request, conversation: c });
      assert.equal(type, 'error', `${peer.id} ${request.type}`);
      assert.ok(['not_yours', 'forbidden', 'no_such_conversation'].includes(code), code);
    }
  }
});

scenario_on_shards('open answers with one unclosed conversation per group', [], async (server) => {
  const v = await visitor(server, 'v1');
  const first = await v.get('opened', { type: 'open', group: 'sales' });
  assert.deepEqual([first.epoch, first.seq, first.state, first.position], [1, 1, 'queued', 1]);
  const again = await v.get('opened', { type: 'open', group: 'sales' });
  assert.equal(again.conversation, first.conversation);
  const by_default = await v.get('opened', { type: 'open' });
  assert.equal(by_default.conversation, first.conversation);
  assert.notEqual(await open(v, 'support'), first.conversation);
  await v.get('ok', { type: 'close', conversation: first.conversation });
  assert.notEqual(await open(v, 'sales'), first.conversation);
});

scenario_on_shards('close ends a conversation for both sides, and a later send is closed', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  await a.get('ok', { type: 'close', conversation: c, reason: 'solved' });
  for (const peer of [a, v]) {
    const item = await peer.item(c, seq + 1);
    assert.deepEqual([item.event, item.reason], ['closed', 'solved']);
  }
  assert.equal((await a.take('unassigned')).reason, 'closed');
  await v.refused('closed', { type: 'send', conversation: c, client_msg_id: 'late', text: 'x' });
});

scenario_on_shards('a closed conversation is reopened by its visitor and goes on with its numbers', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  await a.get('ok', { type: 'close', conversation: c });
  await v.item(c, seq + 1);
  await a.take('unassigned');
  const { conversation } = await v.get('opened', { type: 'open', conversation: c });
  assert.equal(conversation, c);
  assert.equal((await v.item(c, seq + 2)).event, 'reopened');
  assert.equal((await a.take('assigned')).conversation, c);
});

scenario_on_shards('history gives pages in ascending order that join without a hole', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  let last = seq;
  for (let i = 0; i < 12; i++) last = (await (i % 2 ? a : v).send(c, `text ${i}`)).seq;
  const all = await v.get('history', { type: 'history', conversation: c, limit: 200 });
  assert.deepEqual(all.items.map((i) => i.seq), up_to(last));
  assert.equal(all.more, false);
  const joined = [];
  let before;
  for (let pages = 0; pages < 20; pages++) {
    const page = await a.get('history', { type: 'history', conversation: c, limit: 5, before });
    joined.unshift(...page.items);
    if (!page.more) break;
    assert.equal(page.items.length, 5);
    before = page.items[0].seq;
  }
  assert.deepEqual(joined, all.items);
  const pushed = await v.until(() => v.items(c).find((i) => i.seq === last), 'the last push');
  assert.deepEqual(all.items.at(-1), pushed, 'the same object as pushed');
});

scenario_on_shards('accept and decline are for the one who was asked', [], async (server) => {
  const a1 = await agent(server, 'a1');
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await a1.take('assigned');
  const a2 = await agent(server, 'a2');
  const { type, code } = await a2.ask({ type: 'accept', conversation: c });
  assert.equal(type, 'error');
  assert.ok(['not_yours', 'taken'].includes(code), code);
  await a1.get('ok', { type: 'decline', conversation: c });
  assert.equal((await a1.take('unassigned')).reason, 'declined');
  assert.equal((await a2.take('assigned')).conversation, c);
  await a2.get('ok', { type: 'accept', conversation: c });
  await a2.get('ok', { type: 'accept', conversation: c });
  await v.take((f) => f.event === 'accepted');
  await a1.refused('not_yours', { type: 'send', conversation: c, client_msg_id: 'late', text: 'x' });
});

scenario('a send by the assigned agent accepts', [], async (server) => {
  const a = await agent(server, 'a1');
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await a.take('assigned');
  const { seq } = await a.send(c, 'hello');
  assert.deepEqual((await v.item(c, seq)).text, 'hello');
  assert.equal((await v.item(c, seq - 1)).event, 'accepted');
});
