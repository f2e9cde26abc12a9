// permessage-deflate (RFC 7692): what is agreed on, what is compressed, and compressed frames that must not be.
import assert from 'node:assert/strict';
import { constants, deflateRawSync } from 'node:zlib';
import { metrics } from './chatter.mjs';
import { agent, talk, visitor } from './peer.mjs';
import { RawSocket, deflate, deflated, frame, hello_of, kBinary, kDeflated, kHandshake, kOffer, kPing, kText, object_of, offering, text } from './raw_socket.mjs';
import { on_one_server, scenario, scenario_on_shards } from './server.mjs';

const kContinuation = 0;
const kFrameBytesMax = 6 * 16_384 + 4_096;

const spacious = (bytes) => JSON.stringify({ type: 'ping', ref: 1, pad: '' }).replace('""', `"${' '.repeat(bytes - 32)}"`);
const prose = (bytes) => 'How much is the tent, and is there a smaller one? '.repeat(bytes / 50 + 1).slice(0, bytes);

const on_it = on_one_server(['--deflate'], { shards: 4 });
const dealing = (server, id = 'v1') => RawSocket.hello(server, 'visitor', id, kOffer);

scenario('without --deflate nothing is agreed on', [], async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1', kOffer);
  assert.match(raw.head, / 101 /);
  assert.doesNotMatch(raw.head, /permessage-deflate/i);
  raw.write(deflated({ type: 'ping', ref: 1 }));
  assert.equal(await raw.close_code(), 1002);
  const v = await visitor(server, 'v2', { carrier: 'websocket', deflate: true });
  await v.alive();
});

on_it('it is agreed on when it is offered, each message on its own', async (server) => {
  const answered = async (handshake) => /sec-websocket-extensions: *([^\r]*)/i.exec((await RawSocket.open(server, handshake)).head)?.[1];
  const each = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
  assert.equal(await answered(kOffer), each);
  assert.equal(await answered(offering('foo, permessage-deflate; server_max_window_bits=9, permessage-deflate')), each);
  assert.equal(await answered(offering('permessage-deflate; server_max_window_bits=9')), undefined);
  assert.equal(await answered(offering('foo')), undefined);
  assert.equal(await answered(kHandshake), undefined);
});

on_it('who did not agree gets and may send nothing compressed', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(deflated({ type: 'ping', ref: 1 }));
  assert.equal(await raw.close_code(), 1002);
});

scenario_on_shards('clients that compress everything, and others, talk to each other', ['--deflate', '--compact', '127.0.0.1:0'], async (server) => {
  const all = { carrier: 'websocket', deflate: { threshold: 0 } };
  const { a, v, c } = await talk(server, { of_visitor: all, of_agent: all });
  const plain = await visitor(server, 'v1', { carrier: 'websocket' });
  const compact = await visitor(server, 'v1', { carrier: 'compact' });
  const again = await visitor(server, 'v1', all);
  for (const bytes of [0, 100, 1_500, 16_384]) {
    const asked = await v.send(c, prose(bytes));
    assert.equal((await a.item(c, asked.seq)).text, prose(bytes));
    const { seq } = await a.send(c, prose(bytes));
    for (const peer of [v, again, plain, compact]) assert.equal((await peer.item(c, seq)).text, prose(bytes));
  }
  const { items } = await v.get('history', { type: 'history', conversation: c });
  assert.ok(items.some((item) => item.text?.length === 16_384));
  v.drop();
  const back = await visitor(server, 'v1', { ...all, resume: [{ conversation: c, epoch: 0, seq: 0 }] });
  await back.take('resumed');
  assert.deepEqual(back.items(c).map((item) => item.text?.length ?? 0), items.map((item) => item.text?.length ?? 0));
});

scenario('messages of 1 KiB are compressed, once for all who get them, and shorter ones are not', ['--deflate'], async (server) => {
  const a = await agent(server, 'a1', { carrier: 'websocket' });
  const first = await dealing(server);
  const second = await RawSocket.open(server, kOffer);
  second.write(text(hello_of(server, 'visitor', 'v1', { device: 'raw2' })));
  await second.json((f) => f.type === 'welcome');
  first.write(text({ type: 'open', ref: 1, group: 'sales' }));
  const { conversation } = await first.json((f) => f.type === 'opened');
  await a.get('ok', { type: 'accept', conversation });
  const is = (said) => (f) => f.opcode === kText && object_of(f).text === said;
  for (const [said, compressed] of [['short', false], [prose(2_000), true]]) {
    await a.send(conversation, said);
    for (const raw of [first, second]) assert.equal((await raw.take(is(said), 'the message')).deflated, compressed);
  }
  const { taut_deflate_bytes_in_total: before, taut_deflate_bytes_out_total: after } = await metrics(server);
  assert.ok(before > 2_000 && before < 2_500, `${before} bytes for two receivers`);
  assert.ok(after < before / 4, `${after} of ${before} bytes`);
  first.write(text({ type: 'history', ref: 2, conversation }));
  assert.ok((await first.take((f) => f.opcode === kText && object_of(f).ref === 2, 'the history')).deflated);
});

on_it('compressed messages are understood wherever they are cut', async (server) => {
  const raw = await dealing(server);
  const bytes = deflated({ type: 'ping', ref: 7, pad: 'aaaaaaaaaaaaaaaaaaaa' });
  for (let at = 1; at < bytes.length; at++) {
    for (const part of [bytes.subarray(0, at), bytes.subarray(at)]) {
      raw.write(part);
      await new Promise(setImmediate);
    }
    await raw.json((f) => f.ref === 7);
  }
  for (const byte of bytes) {
    raw.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  await raw.json((f) => f.ref === 7);
});

on_it('a compressed message in fragments is one, with control frames and plain messages around', async (server) => {
  const raw = await dealing(server);
  const payload = deflate(JSON.stringify({ type: 'ping', ref: 1, note: prose(3_000) }));
  raw.write(Buffer.concat([
    text({ type: 'ping', ref: 0 }),
    frame(kText, payload.subarray(0, 5), { fin: false, rsv: kDeflated }),
    frame(kPing, 'between'),
    frame(kContinuation, payload.subarray(5, 9), { fin: false }),
    frame(kContinuation, payload.subarray(9)),
    text({ type: 'ping', ref: 2 }),
  ]));
  for (const ref of [0, 1, 2]) assert.equal((await raw.json((f) => f.type === 'pong')).ref, ref);
});

on_it('every way to compress is understood', async (server) => {
  const raw = await dealing(server);
  const ping = JSON.stringify({ type: 'ping', ref: 3, pad: prose(2_000) });
  const payloads = [
    deflate(ping, { level: 0 }),
    deflate(ping, { level: 9, windowBits: 9 }),
    deflate(ping, { strategy: constants.Z_HUFFMAN_ONLY }),
    Buffer.concat([deflateRawSync(ping), Buffer.from([0])]), // a last block, as RFC 7692, 7.2.3.4 has it
  ];
  for (const payload of payloads) {
    raw.write(frame(kText, payload, { rsv: kDeflated }));
    await raw.json((f) => f.ref === 3);
  }
});

// The whole connection moves to its identity's shard, with what was agreed on.
for (const id of ['v1', 'v2', 'v3', 'v4', 'v5', 'v6']) {
  on_it(`handshake, compressed hello and requests of ${id} in one write are all answered`, async (server) => {
    const partial = deflated({ type: 'ping', ref: 3 });
    const all = [Buffer.from(kOffer), deflated(hello_of(server, 'visitor', id)), deflated({ type: 'open', ref: 1 }), partial.subarray(0, 7)];
    const raw = await RawSocket.open(server, Buffer.concat(all));
    assert.equal((await raw.json((f) => f.type === 'welcome')).id, id);
    await raw.json((f) => f.type === 'opened' && f.ref === 1);
    raw.write(partial.subarray(7));
    await raw.json((f) => f.type === 'pong' && f.ref === 3);
  });
}

const kBomb = deflate(' '.repeat(16 << 20));

const kWrong = {
  'a compressed ping': [() => frame(kPing, 'x', { rsv: kDeflated }), 1002],
  'a second reserved bit': [() => frame(kText, deflate('{}'), { rsv: 2 | kDeflated }), 1002],
  'RSV1 on a continuation': [() => Buffer.concat([frame(kText, 'x', { fin: false, rsv: kDeflated }), frame(kContinuation, 'y', { rsv: kDeflated })]), 1002],
  'a compressed binary message': [() => frame(kBinary, deflate('{}'), { rsv: kDeflated }), 1002],
  'a stream that is none': [() => frame(kText, 'plain text', { rsv: kDeflated }), 1007],
  'a stream that is cut': [() => frame(kText, deflate(prose(2_000)).subarray(0, 30), { rsv: kDeflated }), 1007],
  'a stream that looks back to an earlier message': [() => frame(kText, Buffer.from([0xf2, 0x00, 0x11, 0x00, 0x00]), { rsv: kDeflated }), 1007],
  'compressed broken UTF-8': [() => frame(kText, deflate(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), { rsv: kDeflated }), 1007],
  'one byte too many': [() => deflated(spacious(kFrameBytesMax + 1)), 1009],
  'a bomb of 16 MiB': [() => frame(kText, kBomb, { rsv: kDeflated }), 1009],
  'a bomb in fragments': [() => Buffer.concat([frame(kText, kBomb.subarray(0, 9_000), { fin: false, rsv: kDeflated }), frame(kContinuation, kBomb.subarray(9_000))]), 1009],
};

for (const [name, [bytes, code]] of Object.entries(kWrong)) {
  on_it(`${name} closes with ${code}, and nobody else`, async (server) => {
    const good = await dealing(server);
    const raw = await dealing(server, 'v2');
    raw.write(bytes());
    assert.equal(await raw.close_code(), code);
    await raw.ended;
    good.write(deflated({ type: 'ping', ref: 1 }));
    await good.json((f) => f.ref === 1);
  });
  on_it(`${name} before hello closes with ${code}`, async (server) => {
    const raw = await RawSocket.open(server, kOffer);
    raw.write(bytes());
    assert.equal(await raw.close_code(), code);
    await raw.ended;
  });
}

on_it('a message of the limit is read', async (server) => {
  const raw = await dealing(server);
  const ping = spacious(kFrameBytesMax);
  assert.equal(ping.length, kFrameBytesMax);
  raw.write(deflated(ping));
  await raw.json((f) => f.ref === 1);
});

scenario_on_shards('messages that inflate a thousand times are answered in order, a few a turn', ['--deflate', '--rate-visitor', '0'], async (server) => {
  const raw = await dealing(server);
  const pings = Array.from({ length: 300 }, (_, ref) => deflated(spacious(90_000).replace('"ref":1', `"ref":${ref}`)));
  raw.write(Buffer.concat(pings));
  for (let ref = 0; ref < pings.length; ref++) assert.equal((await raw.json((f) => f.type === 'pong')).ref, ref);
});

scenario('a reader that pauses gets all in order', ['--deflate'], async (server) => {
  const { a, v, c } = await talk(server, { of_visitor: { carrier: 'websocket', deflate: true }, of_agent: { carrier: 'websocket' } });
  v.pause();
  const texts = Array.from({ length: 200 }, (_, i) => `${i} ${prose(16_000)}`);
  const acks = await Promise.all(texts.map((said, i) => a.send(c, said, { client_msg_id: `t${i}` })));
  v.resume();
  for (const [i, { seq }] of acks.entries()) assert.equal((await v.item(c, seq)).text, texts[i]);
});
