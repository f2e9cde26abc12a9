// WebSocket as RFC 6455 has it, byte by byte: fragments, control frames between them, and frames that must not be.
import assert from 'node:assert/strict';
import { RawSocket, close_payload, frame, hello_of, kBinary, kClose, kHandshake, kPing, kPong, kText, text } from './raw_socket.mjs';
import { on_one_server } from './server.mjs';

const kContinuation = 0;
const on_it = on_one_server([], { shards: 4 });

on_it('the handshake is answered as the RFC computes it', async (server) => {
  const raw = await RawSocket.open(server);
  assert.match(raw.head, /^HTTP\/1\.1 101 /);
  assert.match(raw.head, /\r\nsec-websocket-accept: *s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=(\r\n|$)/i);
  assert.match(raw.head, /\r\nsec-websocket-protocol: *taut\.v1\.json(\r\n|$)/i);
  assert.doesNotMatch(raw.head, /permessage-deflate/i);
});

on_it('a message in fragments is one message, control frames between them are answered at once', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  const ping = JSON.stringify({ type: 'ping', ref: 4711, note: 'ü in two halves' });
  const bytes = Buffer.from(ping);
  const half = bytes.indexOf(0xc3) + 1; // within the two bytes of ü
  raw.write(frame(kText, bytes.subarray(0, 5), { fin: false }));
  raw.write(frame(kPing, 'are you there'));
  const pong = await raw.take((f) => f.opcode === kPong, 'the pong');
  assert.equal(pong.payload.toString(), 'are you there');
  raw.write(frame(kContinuation, bytes.subarray(5, half), { fin: false }));
  raw.write(frame(kPong, 'unasked'));
  raw.write(frame(kContinuation, '', { fin: false }));
  raw.write(frame(kContinuation, bytes.subarray(half)));
  assert.equal((await raw.json((f) => f.type === 'pong')).ref, 4711);
});

on_it('frames that arrive byte by byte are understood', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  const bytes = Buffer.concat([text({ type: 'ping', ref: 1 }), text({ type: 'ping', ref: 2, pad: 'x'.repeat(200) })]);
  for (const byte of bytes) {
    raw.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  await raw.json((f) => f.ref === 1);
  await raw.json((f) => f.ref === 2);
});

// The whole connection moves to its identity's shard, with what has been read of it and not been understood yet.
for (const id of ['v1', 'v2', 'v3', 'v4', 'v5', 'v6']) {
  on_it(`handshake, hello and requests of ${id} in one write are all answered`, async (server) => {
    const frames = [text(hello_of(server, 'visitor', id)), text({ type: 'open', ref: 1, group: 'sales' }), text({ type: 'ping', ref: 2 })];
    const partial = text({ type: 'ping', ref: 3 });
    const raw = await RawSocket.open(server, Buffer.concat([Buffer.from(kHandshake), ...frames, partial.subarray(0, 7)]));
    assert.equal((await raw.json((f) => f.type === 'welcome')).id, id);
    await raw.json((f) => f.type === 'opened' && f.ref === 1);
    await raw.json((f) => f.type === 'pong' && f.ref === 2);
    raw.write(partial.subarray(7));
    await raw.json((f) => f.type === 'pong' && f.ref === 3);
  });
}

on_it('a thousand requests in one write are answered in order', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(Buffer.concat(Array.from({ length: 1000 }, (_, ref) => text({ type: 'ping', ref }))));
  for (let ref = 0; ref < 1000; ref++) assert.equal((await raw.json((f) => f.type === 'pong')).ref, ref);
});

on_it('a close is answered with its code and the connection ends', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(frame(kClose, close_payload(1000, 'bye')));
  assert.equal(await raw.close_code(), 1000);
  await raw.ended;
});

const kWrong = {
  'an unmasked frame': () => frame(kText, '{}', { mask: false }),
  'a reserved bit': () => frame(kText, '{}', { rsv: 4 }),
  'a reserved opcode': () => frame(3, '{}'),
  'a continuation of nothing': () => frame(kContinuation, '{}'),
  'a new message within a fragmented one': () => Buffer.concat([frame(kText, '{', { fin: false }), frame(kText, '}')]),
  'a fragmented ping': () => frame(kPing, 'x', { fin: false }),
  'a ping of 126 bytes': () => frame(kPing, 'x'.repeat(126)),
  'a close of one byte': () => frame(kClose, 'x'),
  'a close with a code that is none': () => frame(kClose, close_payload(1005)),
};

for (const [name, bytes] of Object.entries(kWrong)) {
  on_it(`${name} closes with 1002`, async (server) => {
    const raw = await RawSocket.hello(server, 'visitor', 'v1');
    raw.write(bytes());
    assert.equal(await raw.close_code(), 1002);
    await raw.ended;
  });
}

on_it('a binary frame closes', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(frame(kBinary, '{"type":"ping","ref":1}'));
  assert.ok([1002, 1003].includes(await raw.close_code()));
});

const kBroken = {
  'a lone continuation byte': [0x80],
  'an overlong slash': [0xc0, 0xaf],
  'a surrogate in UTF-8': [0xed, 0xa0, 0x80],
  'beyond U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'a sequence that is cut': [0xe2, 0x82],
};

// Elsewhere broken UTF-8 was stored, and came back at every reconnect.
on_it('raw broken UTF-8 closes with 1007 and is never stored', async (server) => {
  const first = await RawSocket.hello(server, 'visitor', 'v1');
  first.write(text({ type: 'open', ref: 1, group: 'sales' }));
  const { conversation } = await first.json((f) => f.type === 'opened');
  first.drop();
  for (const [name, bytes] of Object.entries(kBroken)) {
    const raw = await RawSocket.hello(server, 'visitor', 'v1');
    const [head, tail] = [`{"type":"send","ref":9,"conversation":"${conversation}","client_msg_id":"broken","text":"`, '"}'];
    raw.write(frame(kText, Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)])));
    assert.equal(await raw.close_code(), 1007, name);
  }
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(text({ type: 'history', ref: 10, conversation }));
  const { items } = await raw.json((f) => f.ref === 10);
  assert.deepEqual(items.map((i) => i.type), ['event']);
});

on_it('a frame whose length is absurd closes with 1009 before its bytes come', async (server) => {
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  raw.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]));
  assert.equal(await raw.close_code(), 1009);
});

on_it('bytes that are no HTTP, and a head without end, do not disturb the others', async (server) => {
  const good = await RawSocket.hello(server, 'visitor', 'v1');
  const garbage = await RawSocket.open(server, '\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n').catch(() => null);
  if (garbage) assert.doesNotMatch(garbage.head, /101/);
  const endless = await RawSocket.open(server, `GET /v1/chat HTTP/1.1\r\nX: ${'y'.repeat(100_000)}`).catch(() => null);
  if (endless) assert.match(endless.head, / 4\d\d /);
  good.write(text({ type: 'ping', ref: 1 }));
  await good.json((f) => f.ref === 1);
});
