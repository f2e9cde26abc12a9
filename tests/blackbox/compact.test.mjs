// What only the compact carrier has: its framing, its goodbyes, and conversations whose ends speak differently.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { connect as connect_tls } from 'node:tls';
import { make_certificate } from './certificate.mjs';
import { body_of, bodies_of, netstring, object_of } from './compact_peer.mjs';
import { Peer, agent, open, talk, up_to, visitor } from './peer.mjs';
import { hello_of } from './raw_socket.mjs';
import { kSlowness, run, scenario, scenario_on_shards, within } from './server.mjs';

const kCompact = ['--compact', '127.0.0.1:0'];
const compact = { carrier: 'compact' };
const certificate = make_certificate('compact');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (frame) => netstring(body_of(frame));

/** A connection made of bytes: `objects` is what the server said, `ended` when it ended. */
class Raw {
  objects = [];
  #bytes = Buffer.alloc(0);
  #wake = () => {};

  constructor(server, socket = connect(server.compact_port, '127.0.0.1')) {
    this.socket = socket;
    server.peers.push({ drop: () => socket.destroy() });
    this.ended = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const { bodies, rest } = bodies_of(Buffer.concat([this.#bytes, bytes]));
      this.#bytes = rest;
      this.objects.push(...bodies.map(object_of));
      this.#wake();
    });
  }

  write(bytes) {
    this.socket.write(bytes);
    return this;
  }

  async hello(server, id = 'v1') {
    this.write(say(hello_of(server, 'visitor', id)));
    await this.get('welcome');
    return this;
  }

  /** The first object of this type. */
  get(type) {
    const found = new Promise((resolve) => {
      this.#wake = () => {
        const at = this.objects.findIndex((object) => object.type === type);
        if (at >= 0) resolve(this.objects.splice(at, 1)[0]);
      };
      this.#wake();
    });
    return within(found, () => `${type}; had ${JSON.stringify(this.objects)}`);
  }

  async until_end() {
    await within(this.ended, 'the end of the connection');
    return this.objects;
  }
}

// -- both ends --

for (const [visitors, agents] of [['compact', 'websocket'], ['websocket', 'compact'], ['compact', 'compact']]) {
  scenario_on_shards(`a visitor on ${visitors} and an agent on ${agents} hear the same`, kCompact, async (server) => {
    const { a, v, c, seq } = await talk(server, { of_visitor: { carrier: visitors }, of_agent: { carrier: agents } });
    const second = await visitor(server, 'v1', { carrier: agents }); // the same visitor on the other carrier
    const texts = ['hello', '', 'two\nlines: "quoted", \\n and 😀', 'x'.repeat(16_384), '\u0001\t'.repeat(2_000)];
    for (const [i, text] of texts.entries()) {
      const from = i % 2 ? v : a;
      const { seq: number } = await from.send(c, text);
      for (const peer of [a, v, second].filter((peer) => peer !== from)) assert.equal((await peer.item(c, number)).text, text);
    }
    const sent = { type: 'send', conversation: c, client_msg_id: 'once', text: texts[2] };
    const { seq: number } = await v.get('ack', sent);
    const again = await second.get('ack', sent);
    assert.deepEqual([again.seq, again.dup], [number, true], 'a repeat is one on either carrier');
    const [of_a, of_v] = await Promise.all([a, v].map((peer) => peer.get('history', { type: 'history', conversation: c, limit: 200 })));
    assert.deepEqual(of_a.items, of_v.items);
    const back = await visitor(server, 'v1', { carrier: agents, resume: [{ conversation: c, epoch: 1, seq }] });
    await back.take('resumed');
    assert.deepEqual(back.items(c), of_v.items.filter((item) => item.seq > seq), 'missed items are the same objects');
    await a.get('ok', { type: 'close', conversation: c, reason: 'done' });
    for (const peer of [a, v, second]) await peer.take((f) => f.event === 'closed');
  });
}

// -- framing --

scenario_on_shards('a stream is understood byte by byte, and all at once', [...kCompact, '--mode', 'none'], async (server) => {
  const v = await visitor(server, 'v1', compact);
  const c = await open(v);
  const bytes = Buffer.concat([
    say({ ...hello_of(server, 'visitor', 'v1'), device: 'dribble' }),
    say({ type: 'send', ref: 5, conversation: c, client_msg_id: 'm1', text: 'é, 3:abc,\n' }),
    netstring(`3:${c}:m2\nwithout ref`),
    netstring(`4:${c}:{"on":true}`),
    say({ type: 'ping', ref: 7 }),
  ]);
  const raw = new Raw(server);
  for (const byte of bytes) {
    raw.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  await raw.get('welcome');
  assert.equal((await raw.get('ack')).seq, 2);
  const bare = await raw.get('ack');
  assert.deepEqual([bare.ref, bare.client_msg_id, bare.seq], [0, 'm2', 3]);
  await raw.get('pong');
  const at_once = new Raw(server).write(Buffer.concat([bytes, ...up_to(200).map((ref) => say({ type: 'ping', ref: 1000 + ref }))]));
  for (const _ of up_to(2)) assert.equal((await at_once.get('ack')).dup, true);
  for (const ref of [7, ...up_to(1200, 1001)]) assert.equal((await at_once.get('pong')).ref, ref);
});

scenario('a breach of the framing is an error, then bye, then the end', kCompact, async (server) => {
  const cases = [
    ['GET / HTTP/1.1\r\n\r\n', 'bad_field', 1002],
    ['01:a,', 'bad_field', 1002],
    ['3:abcd', 'bad_field', 1002],
    [':', 'bad_field', 1002],
    [`${6 * 16_384 + 4_096 + 1}:`, 'too_large', 1009],
  ];
  for (const [bytes, code, close] of cases) {
    for (const first of ['', say({ type: 'ping', ref: 1 })]) {
      const raw = await new Raw(server).hello(server);
      raw.write(first).write(bytes);
      const objects = await raw.until_end();
      assert.deepEqual(objects.map((o) => o.type), first ? ['pong', 'error', 'bye'] : ['error', 'bye'], bytes);
      assert.deepEqual([objects.at(-2).code, objects.at(-1).code], [code, close], bytes);
    }
    const objects = await new Raw(server).write(bytes).until_end();
    assert.deepEqual(objects.map((o) => o.code), [code, close], 'before hello, too');
  }
});

scenario('what is wrong with one message is an error alone', kCompact, async (server) => {
  const raw = await new Raw(server).hello(server);
  const cases = [
    ['', 'bad_field'],
    ['no colons', 'bad_field'],
    ['15::', 'bad_json'],
    ['15::{"ref":-1}', 'bad_field'],
    ['99::{}', 'unknown_type'],
    ['7:white space:{"ref":1}', 'bad_field'],
    [Buffer.from('3:c:m 1\n\xff', 'latin1'), 'bad_utf8'],
    ['3:c:m 1\n\0', 'bad_utf8'],
    [`3:c:m 1\n${'x'.repeat(16_385)}`, 'too_large'],
    ['3:c:m 1\nx', 'no_such_conversation'],
  ];
  for (const [body, code] of cases) {
    raw.write(netstring(body));
    assert.equal((await raw.get('error')).code, code, String(body));
  }
  raw.write(netstring(`15::${'{"ref":7}'.padEnd(6 * 16_384 + 4_096 - 4)}`));
  assert.equal((await raw.get('pong')).ref, 7, 'the longest body');
});

scenario_on_shards('a history of the longest texts is one netstring', kCompact, async (server) => {
  const { v, c, seq } = await talk(server, { of_visitor: compact });
  for (const i of up_to(80)) await v.send(c, `${i} `.padEnd(16_384, 'x'));
  const { items } = await v.get('history', { type: 'history', conversation: c, limit: 200 });
  assert.ok(items.length > 5);
  assert.deepEqual(items.map((i) => i.seq), up_to(seq + 80, seq + 81 - items.length));
});

// -- goodbyes --

scenario('everybody is told by a bye why they must go', [...kCompact, '--hello-timeout-ms', Math.round(2_000 * kSlowness)], async (server) => {
  const mute = new Raw(server);
  const expired = new Raw(server).write(say({ ...hello_of(server, 'visitor', 'v1'), token: server.token('visitor', 'v1', { exp: 1 }) }));
  assert.deepEqual((await expired.until_end()).map((o) => o.code), ['bad_token', 4105]);
  const one = await new Raw(server).hello(server);
  const two = await new Raw(server).hello(server);
  assert.equal((await one.get('bye')).code, 4011);
  const bye = await mute.get('bye');
  assert.deepEqual([bye.code, bye.reason], [1002, 'no hello in time']);
  server.signal('SIGTERM');
  assert.equal((await two.get('bye')).code, 4200);
  await within(server.exited, 'the exit');
  server.stop = async () => {};
});

scenario('who comes when there is no room is told so', [...kCompact, '--connections-max', '1'], async (server) => {
  await new Raw(server).hello(server);
  const objects = await new Raw(server).until_end();
  assert.deepEqual(objects.map((o) => [o.type, o.code]), [['bye', 4101]]);
}, { shards: 1 });

// -- below it --

const kTls = ['--tls-cert', certificate.cert, '--tls-key', certificate.key];

scenario_on_shards('it runs over TLS as well, moved between shards as without', [...kCompact, ...kTls], async (server) => {
  assert.match(server.stdout[0], /^listening wss=127\.0\.0\.1:\d+ compact=127\.0\.0\.1:\d+$/);
  for (const i of up_to(4)) {
    const { a, v, c } = await talk(server, { visitor_id: `v${i}`, agent_id: `a${i}`, of_visitor: compact });
    await a.get('ok', { type: 'presence', status: 'busy' });
    const { seq } = await v.send(c, 'x'.repeat(16_000));
    assert.equal((await a.item(c, seq)).text.length, 16_000);
  }
});

scenario('a PROXY header names the client, before TLS and without', [...kCompact, ...kTls, '--proxy-protocol', '--trusted-proxy', '127.0.0.0/8', '--log-level', 'debug'], async (server) => {
  const header = Buffer.from('0d0a0d0a000d0a515549540a2111000cc000020700000000' + '00000000', 'hex'); // 192.0.2.7
  const plain = connect(server.compact_port, '127.0.0.1');
  plain.write(header);
  const raw = new Raw(server, connect_tls({ socket: plain, rejectUnauthorized: false }));
  raw.write(say({ ...hello_of(server, 'visitor', 'v1'), token: 'none' }));
  assert.equal((await raw.get('bye')).code, 4001);
  while (!/from 192\.0\.2\.7: hello refused/.test(server.stderr)) await pause(20);
});

// -- by hand --

const has_nc = (() => {
  try {
    return execFileSync('sh', ['-c', 'command -v nc']).length > 0;
  } catch {
    return false;
  }
})();

scenario('a chat by hand, as docs/protocol.md shows it', kCompact, async (server, t) => {
  if (!has_nc) return t.skip('no nc');
  const a = await agent(server, 'a1');
  const { stdout: token } = await run(['token', '--secret-file', server.secret_file, '--role', 'visitor', '--id', 'v1', '--site', 'demo']);
  const script = `
    say() { printf '%s:%s,' "$(printf %s "$1" | wc -c | tr -d ' ')" "$1"; }
    { say '1::{"version":1,"role":"visitor","site":"demo","device":"nc","token":"'"$TOKEN"'"}'
      say '2::{"ref":1,"group":"sales"}'
      while IFS= read -r line; do say "$(printf %b "$line")"; done
    } | nc 127.0.0.1 "$PORT"`;
  const shell = spawn('sh', ['-c', script], { env: { ...process.env, TOKEN: token.trim(), PORT: server.compact_port }, stdio: ['pipe', 'pipe', 'inherit'] });
  server.peers.push({ drop: () => shell.kill() });
  const { conversation } = await a.take('assigned');
  await a.send(conversation, 'hello, you with the netcat');
  let bytes = Buffer.alloc(0);
  const heard = new Promise((resolve) => {
    shell.stdout.on('data', (more) => {
      bytes = Buffer.concat([bytes, more]);
      const objects = bodies_of(bytes).bodies.map(object_of);
      if (objects.some((o) => o.type === 'message' && o.text === 'hello, you with the netcat')) resolve(objects);
    });
  });
  const objects = await within(heard, () => `the message; had ${bytes}`);
  assert.deepEqual(objects.slice(0, 2).map((o) => o.type), ['welcome', 'opened']);
  shell.stdin.end(`3:${conversation}:m1 2\\nand you\n`);
  assert.equal((await a.take((f) => f.type === 'message')).text, 'and you');
});

scenario('without --compact nobody listens, and one port cannot be both', [], async (server) => {
  assert.equal(server.compact_port, undefined);
  const listen = `127.0.0.1:${server.port}`;
  const { code, stderr } = await run(['serve', '--listen', '127.0.0.1:0', '--compact', listen, '--secret-file', server.secret_file]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(listen));
  const wrong = await run(['serve', '--compact', 'here', '--secret-file', server.secret_file]);
  assert.deepEqual([wrong.code, /--compact here: expected HOST:PORT/.test(wrong.stderr)], [2, true], wrong.stderr);
});
