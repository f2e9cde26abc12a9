// Input that comes faster than its answers leave, or in pieces that nothing else sends: the server keeps it, and answers it.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { Peer, agent, open, up_to, visitor } from './peer.mjs';
import { frame, hello_of, kText, RawSocket, text } from './raw_socket.mjs';
import { kSlowness, scenario, scenario_on_shards, within } from './server.mjs';

const kNoRates = ['--rate-visitor', '0/0', '--rate-agent', '0/0'];
const kOnePage = ['--soft-limit-bytes', '20000', '--slow-reader-ms', '1min']; // one page of history is as much as may wait
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms * kSlowness));

/** Writes to a connection of its own and collects what comes back. */
function plain(server, bytes) {
  const socket = connect(server.port, '127.0.0.1').setNoDelay(true);
  server.peers.push({ drop: () => socket.destroy() });
  const peer = { socket, answer: '' };
  socket.on('error', () => {});
  socket.on('data', (more) => (peer.answer += more.toString('latin1')));
  peer.until = (condition, what) =>
    within(
      new Promise((resolve, reject) => {
        const look = () => condition(peer.answer) && resolve();
        socket.on('data', look).on('close', () => (look(), reject(new Error(`closed before ${what}: ${peer.answer.slice(-200)}`))));
        look();
      }),
      what,
    );
  socket.write(bytes);
  return peer;
}

scenario_on_shards('histories asked for all at once are all answered, in order', [...kNoRates, ...kOnePage], async (server) => {
  const kAsked = 300;
  const v = await visitor(server, 'v1');
  const c = await open(v);
  for (const i of up_to(25)) await v.send(c, `${i} ${'x'.repeat(1000)}`);
  const raw = await RawSocket.hello(server, 'visitor', 'v1');
  const ask = (ref) => text({ type: 'history', ref, conversation: c, limit: 200, padding: 'x'.repeat(400) });
  raw.write(Buffer.concat(up_to(kAsked / 3).map(ask)));
  await pause(100);
  raw.write(Buffer.concat(up_to(kAsked, kAsked / 3 + 1).map(ask)));
  for (const ref of up_to(kAsked)) {
    const { payload } = await raw.take((f) => f.opcode === kText, `history ${ref}`);
    assert.match(payload.subarray(0, 100).toString(), new RegExp(`"type":"history".*"ref":${ref},`));
  }
  raw.write(text({ type: 'ping', ref: kAsked + 1 }));
  await raw.json((f) => f.type === 'pong');
});

scenario_on_shards('a hello as large as a frame may be, with others right behind it, is moved with them', kNoRates, async (server) => {
  const kPings = 600;
  for (const i of up_to(4)) {
    const raw = await RawSocket.open(server);
    const hello = text({ ...hello_of(server, 'visitor', `v${i}`), padding: 'x'.repeat(90_000) });
    raw.write(hello.subarray(0, hello.length - 10));
    await pause(50);
    raw.write(Buffer.concat([hello.subarray(hello.length - 10), ...up_to(kPings).map((ref) => text({ type: 'ping', ref }))]));
    await raw.json((f) => f.type === 'welcome');
    await raw.json((f) => f.type === 'pong' && f.ref === kPings);
  }
});

for (const bytes of [1, 4096, 16_384]) {
  scenario(`heads and bodies that come in pieces fit beside texts of ${bytes} bytes`, ['--max-text-bytes', bytes], async (server) => {
    const body = plain(server, 'POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n');
    for (let i = 0; i < 16; i++) {
      await pause(5);
      body.socket.write('a'.repeat(4096));
    }
    await body.until((answer) => answer.startsWith('HTTP/1.1 403'), 'the answer to the body');
    const head = plain(server, 'GET /v1/chat HTTP/1.1\r\n');
    for (let i = 0; i < 15; i++) {
      await pause(5);
      head.socket.write(`X-${i}: ${'a'.repeat(1000)}\r\n`);
    }
    await pause(20);
    head.socket.write(`X: ${'a'.repeat(30_000)}\r\n`);
    await head.until((answer) => answer.startsWith('HTTP/1.1 431'), 'the answer to the head');
  });
}

scenario('HTTP requests sent all at once are all answered, and who does not read holds up neither others nor the stop', [], async (server) => {
  const kRequests = 800;
  const metrics = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  for (let i = 0; i < 30; i++) plain(server, metrics.repeat(400)).socket.pause();
  const many = plain(server, metrics.repeat(kRequests) + 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const { status } = await within(fetch(`${server.http}/healthz`), 'health among many requests', 5_000 * kSlowness);
  assert.equal(status, 200);
  await many.until((answer) => answer.endsWith('ok\n'), 'the last of many answers');
  assert.equal(many.answer.split('HTTP/1.1 200 OK').length - 1, kRequests + 1);
});

scenario('after broken framing inside a fragmented message nothing more is understood', [], async (server) => {
  const broken = await RawSocket.open(server);
  broken.write(frame(kText, 'x'.repeat(60_000), { fin: false }));
  await pause(50);
  broken.write(frame(kText, 'y', { rsv: 4 }));
  assert.equal(await broken.close_code(), 1002);
  for (let i = 0; i < 20 && !broken.is_over; i++) {
    broken.write(frame(0, 'z'.repeat(3000)));
    await pause(5);
  }
  broken.drop();
  const a = await agent(server, 'a1');
  await a.alive();
});

// Whoever is awake accepts, so one shard may hold nearly all of them before they have said hello.
scenario('as many as --connections-max are let in, whichever shards hold them', ['--connections-max', '64'], async (server) => {
  const peers = [];
  for (const _ of up_to(64)) peers.push(await Peer.open(server));
  await assert.rejects(Peer.open(server), /503/);
  for (const peer of peers) assert.equal(peer.close_code, undefined);
  peers.pop().drop();
  const again = async () => {
    for (;;) {
      const peer = await Peer.open(server).catch(() => null);
      if (peer) return peer;
      await pause(20);
    }
  };
  await within(again(), 'a place that has become free');
}, { shards: 4 });
