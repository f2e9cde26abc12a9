// Links that die in one direction, proxies that cut idle ones, and a server that was frozen itself.
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { TautClient } from '../../web/taut-client.mjs';
import { Peer, agent, talk, up_to, visitor } from './peer.mjs';
import { Proxy } from './proxy.mjs';
import { kSlowness, scenario, websocket_only, within } from './server.mjs';

const kPingMs = 300 * kSlowness;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Elsewhere the server stalled, then dropped everybody for late pongs. The real one was 40 s at a ping of 25 s; here four intervals of a second, so
// more than one deadline is missed.
scenario('nobody is dropped for a stall of the server itself', ['--ping-ms', 1_000 * kSlowness], async (server) => {
  const { a, v, c } = await talk(server);
  const others = await Promise.all(up_to(6).map((i) => visitor(server, `other-${i}`)));
  server.signal('SIGSTOP');
  await pause(4_000 * kSlowness);
  server.signal('SIGCONT');
  await pause(1_600 * kSlowness);
  for (const peer of [a, v, ...others]) await peer.alive();
  const { seq } = await v.send(c, 'still here');
  await a.item(c, seq);
});

scenario('nobody who is about to say hello is dropped for a stall of the server itself', ['--hello-timeout-ms', 1_000 * kSlowness], async (server) => {
  const peers = await Promise.all(up_to(3).map(() => Peer.open(server)));
  server.signal('SIGSTOP');
  await pause(3_000 * kSlowness);
  server.signal('SIGCONT');
  await pause(100);
  for (const [i, peer] of peers.entries()) {
    peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token: server.token('visitor', `v${i}`), device: 'd' });
    await peer.take('welcome');
  }
  const mute = await Peer.open(server);
  assert.equal((await mute.end()).code, 1002);
});

// Elsewhere a proxy cut idle sockets. Ten minutes behind a limit of 60 s are ten limits; here five, of three intervals of ping each.
scenario('idle links outlive a proxy that cuts idle links', ['--ping-ms', kPingMs], async (server) => {
  const proxy = await Proxy.start(server.carrier_port, { idle_ms: 3 * kPingMs });
  const peer = await visitor(server, 'v1', { via: proxy.port });
  await pause(5 * 3 * kPingMs);
  assert.equal(proxy.cuts, 0);
  await peer.alive();
  peer.drop();
  proxy.stop();
});

// Elsewhere a link died in one direction only, and nobody noticed.
websocket_only(scenario)('a link that died towards the client is noticed by both ends, and the resume loses nothing', ['--ping-ms', 2 * kPingMs], async (server) => {
  const proxy = await Proxy.start(server.port);
  const a = await agent(server, 'a1');
  const client = new TautClient({
    url: `ws://127.0.0.1:${proxy.port}/v1/chat`,
    role: 'visitor',
    site: 'demo',
    token: server.token('visitor', 'v1'),
    WebSocket,
    limits: { backoff_base_ms: 50 },
  });
  const seqs = [];
  const states = [];
  client.addEventListener('item', ({ detail }) => seqs.push(detail.seq));
  client.addEventListener('state', ({ detail }) => states.push(detail));
  client.start();
  const { conversation: c } = await within(client.open({ group: 'sales' }), 'opened');
  await a.take('assigned');
  await a.get('ok', { type: 'accept', conversation: c });
  proxy.deaf = true;
  let last;
  for (let i = 0; i < 5; i++) last = await a.send(c, `unheard ${i}`);
  await until(() => states.some((s) => s.state === 'waiting'), 'the client to notice');
  proxy.deaf = false;
  await until(() => seqs.at(-1) >= last.seq, 'everything to arrive');
  assert.deepEqual(seqs, up_to(last.seq, 2));
  client.stop();
  proxy.stop();
});

scenario('a client that answers no ping is closed', ['--ping-ms', kPingMs], async (server) => {
  const proxy = await Proxy.start(server.carrier_port);
  const peer = await visitor(server, 'v1', { via: proxy.port });
  proxy.deaf = true; // so the pings do not arrive, and the server is not told why
  await until(() => proxy.server_ended > 0, 'the server to notice');
  await peer.end();
  proxy.stop();
});

scenario('one that receives pings and does not answer is told 4104', ['--ping-ms', kPingMs], async (server) => {
  const peer = await Peer.open(server, { pong: false });
  peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token: server.token('visitor', 'v1'), device: 'mute' });
  await peer.take('welcome');
  for (let i = 0; i < 3; i++) await peer.alive(); // frames are no pongs
  assert.equal((await peer.end()).code, 4104);
});

websocket_only(scenario)('a client of the project survives every cut of its link', ['--rate-agent', '0/0'], async (server) => {
  const proxy = await Proxy.start(server.port);
  const kCuts = 5;
  const kTexts = 40; // between two cuts, of each side
  const a = await agent(server, 'a1');
  const client = new TautClient({
    url: `ws://127.0.0.1:${proxy.port}/v1/chat`,
    role: 'visitor',
    site: 'demo',
    token: server.token('visitor', 'v1'),
    WebSocket,
    limits: { backoff_base_ms: 20 },
  });
  const items = [];
  client.addEventListener('item', ({ detail }) => items.push(detail));
  client.start();
  const { conversation: c } = await within(client.open({ group: 'sales' }), 'opened');
  await a.take('assigned');
  await a.get('ok', { type: 'accept', conversation: c });
  const sends = [];
  for (let cut = 0; cut < kCuts; cut++) {
    for (let i = 0; i < kTexts; i++) {
      sends.push(client.send(c, `visitor ${cut}.${i}`));
      a.say({ type: 'send', ref: 1_000_000 + i, conversation: c, client_msg_id: `a-${cut}-${i}`, text: `agent ${cut}.${i}` });
    }
    await pause(30);
    proxy.cut();
  }
  const acks = await within(Promise.all(sends), 'every ack');
  assert.equal(new Set(acks.map((ack) => ack.seq)).size, sends.length);
  const last = (await a.send(c, 'the end')).seq;
  await until(() => items.at(-1)?.seq >= last, 'the last item');
  assert.deepEqual(items.map((i) => i.seq), up_to(last, 2));
  const texts = (who) => items.filter((i) => i.text?.startsWith(who)).map((i) => i.text);
  const expected = (who) => Array.from({ length: kCuts * kTexts }, (_, i) => `${who} ${Math.floor(i / kTexts)}.${i % kTexts}`);
  assert.deepEqual(texts('visitor'), expected('visitor'));
  assert.deepEqual(texts('agent'), expected('agent'));
  assert.equal(await last_seq(server, c), last);
  client.stop();
  proxy.stop();
});

async function last_seq(server, conversation) {
  const peer = await visitor(server, 'v1');
  const { items } = await peer.get('history', { type: 'history', conversation, limit: 1 });
  return items.at(-1).seq;
}

async function until(condition, what) {
  let timer;
  const met = new Promise((resolve) => {
    timer = setInterval(() => condition() && resolve(), 10);
  });
  await within(met, what).finally(() => clearInterval(timer));
}
