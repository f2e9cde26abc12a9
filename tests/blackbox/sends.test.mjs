// Sends: one number for one client_msg_id, limits of a text, and text of every kind.
import assert from 'node:assert/strict';
import { agent, is_durable, talk, up_to, visitor } from './peer.mjs';
import { kCarrier, scenario, scenario_on_shards, websocket_only } from './server.mjs';

// Elsewhere one send on a weak link became two messages: it comes twice in a row, twice at once and across a reconnect.
scenario_on_shards('a repeated client_msg_id gets the first answer again, as dup', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const send = { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' };
  const first = await v.get('ack', send);
  const { ref, ...said } = first;
  assert.deepEqual(said, { type: 'ack', conversation: c, client_msg_id: 'once', epoch: 1, seq: seq + 1, ts: first.ts, level: 'accepted' });

  const in_a_row = await v.get('ack', send);
  assert.notEqual(in_a_row.ref, ref);
  const v2 = await visitor(server, 'v1');
  const at_once = await Promise.all([v.get('ack', send), v2.get('ack', send), v2.get('ack', send)]);
  v.drop();
  const v3 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq }] });
  await v3.take('resumed');
  const across = await v3.get('ack', send);
  for (const again of [in_a_row, ...at_once, across]) {
    assert.deepEqual([again.epoch, again.seq, again.ts, again.level, again.dup], [1, first.seq, first.ts, 'accepted', true]);
  }
  const { seq: next } = await v3.send(c, 'the next one');
  assert.equal(next, first.seq + 1);
  await a.item(c, next);
  assert.deepEqual(a.seqs(c).filter((s) => s > seq), [first.seq, next], 'pushed once');
});

// … and across a restart. Whoever lost the link when the server went cannot know whether the message had arrived, and says it again.
for (const end of ['restart', 'crash']) {
  scenario_on_shards(`what is said again after a ${end} is one message`, [], async (server) => {
    const { a, v, c, seq } = await talk(server);
    const send = (client_msg_id) => ({ type: 'send', conversation: c, client_msg_id, text: 'hello' });
    const first = [];
    for (const peer of [v, a]) {
      const ack = await peer.get('ack', send('once'));
      await peer.take(is_durable(ack.ref));
      first.push(ack);
    }
    await server[end]();
    const v2 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq }] });
    await v2.take('resumed');
    const a2 = await agent(server, 'a1', { status: null });
    await a2.take('assigned');
    for (const [i, peer] of [v2, a2].entries()) {
      for (const again of await Promise.all([peer.get('ack', send('once')), peer.get('ack', send('once'))]))
        assert.deepEqual([again.epoch, again.seq, again.ts, again.dup], [1, first[i].seq, first[i].ts, true]);
    }
    const { seq: next } = await v2.send(c, 'the next one');
    await a2.item(c, next);
    assert.deepEqual(v2.items(c).map((i) => [i.seq, i.client_msg_id]), first.map((ack) => [ack.seq, 'once']));
    assert.equal(next, first[1].seq + 1);
  });
}

scenario_on_shards('two at once on two connections become one message', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const v2 = await visitor(server, 'v1');
  const send = { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' };
  const acks = await Promise.all([v.get('ack', send), v2.get('ack', send)]);
  assert.deepEqual(acks.map((x) => x.seq), [seq + 1, seq + 1]);
  assert.equal(acks.filter((x) => x.dup).length, 1);
  await a.item(c, seq + 1);
  await v.send(c, 'next');
  await a.item(c, seq + 2);
  assert.equal(a.items(c).filter((i) => i.client_msg_id === 'once').length, 1);
});

scenario_on_shards('a repeat with another body is id_conflict, and another sender is not a repeat', [], async (server) => {
  const { a, v, c } = await talk(server);
  const send = { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' };
  const { seq } = await v.get('ack', send);
  await v.refused('id_conflict', { ...send, text: 'hello!' });
  assert.equal((await a.get('ack', send)).seq, seq + 1);
  await a.refused('id_conflict', { ...send, kind: 'note' });
});

scenario_on_shards('a repeat is answered before closed is', [], async (server) => {
  const { a, v, c } = await talk(server);
  const send = { type: 'send', conversation: c, client_msg_id: 'once', text: 'hello' };
  const { seq } = await v.get('ack', send);
  const of_agent = await a.get('ack', { ...send, client_msg_id: 'mine' });
  await a.get('ok', { type: 'close', conversation: c });
  await v.take((f) => f.event === 'closed');
  const again = await v.get('ack', send);
  assert.deepEqual([again.seq, again.dup], [seq, true]);
  assert.equal((await a.get('ack', { ...send, client_msg_id: 'mine' })).seq, of_agent.seq);
  await v.refused('closed', { ...send, client_msg_id: 'new' });
});

// Elsewhere an oversized message closed the connection without a word. At the limit, one below it and one above.
scenario('a text over the limit is too_large and keeps the connection', ['--max-text-bytes', '1000'], async (server) => {
  const { a, v, c } = await talk(server);
  for (const text of ['x'.repeat(999), 'x'.repeat(1000), 'é'.repeat(500), '\n"\\'.repeat(333)]) {
    const { seq } = await v.send(c, text);
    assert.equal((await a.item(c, seq)).text, text);
  }
  for (const text of ['x'.repeat(1001), 'é'.repeat(501), 'x'.repeat(6 * 1000)]) {
    await v.refused('too_large', { type: 'send', conversation: c, client_msg_id: 'big', text });
  }
  await v.alive();
  if (kCarrier === 'compact') return;
  const padded = JSON.stringify({ type: 'ping', ref: 5 }).padEnd(6 * 1000 + 4096, ' ');
  v.say(padded);
  await v.take((f) => f.type === 'pong' && f.ref === 5);
  v.say(`${padded} `);
  assert.equal((await v.end()).code, 1009);
});

// Elsewhere a lone surrogate crashed the server, or the poisoned message came back at every reconnect. Whatever Unicode there is comes out as it
// went in, and what is none is refused for that message alone.
scenario_on_shards('text of every kind arrives as it was', [], async (server) => {
  const { a, v, c } = await talk(server);
  const texts = [
    'plain',
    '😀 👩‍👩‍👧‍👦 🇩🇪',
    'שלום \u200f\u202eabc\u202c مرحبا',
    '\u0001\u001f\u007f\u0085\u2028\u2029\ufeff\uffff\u{10ffff}',
    '<script>alert(1)</script> & "quotes" \\ / \b\f\n\r\t',
    'e\u0301 é',
    '',
  ];
  for (const text of texts.filter(Boolean)) {
    const { seq } = await v.send(c, text);
    assert.equal((await a.item(c, seq)).text, text);
  }
  if (kCarrier === 'compact') return; // where a text is never escaped
  const escaped = '{"type":"send","ref":77,"conversation":"' + c + '","client_msg_id":"esc","text":"\\ud83d\\ude00 \\u00e9 \\/ \\u0041"}';
  v.say(escaped);
  const { seq } = await v.take((f) => f.ref === 77);
  assert.equal((await a.item(c, seq)).text, '😀 é / A');
});

websocket_only(scenario_on_shards)('lone surrogates and U+0000 are bad_utf8 with ref, and history still loads', [], async (server) => {
  const { v, c, seq } = await talk(server);
  for (const text of ['\\ud83d', '\\ude00', 'x\\ud83dy', '\\ude00\\ud83d', '\\ud83d\\ud83d\\ude00', 'a\\u0000b', '\\ud83d\\u0041']) {
    v.say(`{"type":"send","ref":99,"conversation":"${c}","client_msg_id":"bad","text":"${text}"}`);
    const { type, code } = await v.take((f) => f.ref === 99);
    assert.deepEqual([type, code], ['error', 'bad_utf8'], text);
  }
  const { seq: next } = await v.send(c, 'fine', { client_msg_id: 'bad' });
  assert.equal(next, seq + 1);
  const { items } = await v.get('history', { type: 'history', conversation: c });
  assert.deepEqual(items.map((i) => i.seq), up_to(next));
});

scenario('refused sends leave no number behind', [], async (server) => {
  const { a, v, c, seq } = await talk(server);
  await v.refused('bad_field', { type: 'send', conversation: c, client_msg_id: 'a/b', text: 'x' });
  await v.refused('too_large', { type: 'send', conversation: c, client_msg_id: 'big', text: 'x'.repeat(16_385) });
  assert.equal((await v.send(c, 'x')).seq, seq + 1);
  await a.item(c, seq + 1);
});
