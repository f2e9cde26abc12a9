// What the HTTP side answers: refused handshakes, health, metrics and the token endpoint, asked with curl.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Peer, talk } from './peer.mjs';
import { RawSocket, kHandshake } from './raw_socket.mjs';
import { Server, on_one_server, scenario, within } from './server.mjs';

const execute = promisify(execFile);
const on_it = on_one_server([]);

/** curl's view of one exchange. */
async function curl(server, path, ...options) {
  const { stdout } = await execute('curl', ['--silent', '--include', '--max-time', '15', '--http1.1', ...options, `${server.http}${path}`]);
  const end = stdout.indexOf('\r\n\r\n');
  const head = stdout.slice(0, end);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: stdout.slice(end + 4) };
}

/** The headers of a correct handshake, some of them replaced; null leaves one out. */
function handshake(changed = {}) {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol': 'taut.v1.json',
    ...changed,
  };
  return Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : ['--header', `${name}: ${value}`]));
}

// curl would stay in an accepted handshake until its time is over.
async function status_with_origin(server, origin) {
  const host = `127.0.0.1:${server.port}`;
  const bytes = kHandshake.replace('Host: 127.0.0.1\r\n', `Host: ${host}\r\n${origin ? `Origin: ${origin}\r\n` : ''}`);
  const { head } = await RawSocket.open(server, bytes);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
}

on_it('a plain GET of the chat endpoint is told to upgrade', async (server) => {
  const { status, head } = await curl(server, '/v1/chat');
  assert.equal(status, 426);
  assert.match(head, /upgrade: *websocket/i);
});

on_it('another WebSocket version is told which one to use', async (server) => {
  const { status, head } = await curl(server, '/v1/chat', ...handshake({ 'Sec-WebSocket-Version': '12' }));
  assert.equal(status, 426);
  assert.match(head, /sec-websocket-version: *13/i);
});

on_it('a handshake without a usable key is a bad request', async (server) => {
  assert.equal((await curl(server, '/v1/chat', ...handshake({ 'Sec-WebSocket-Key': null }))).status, 400);
  assert.equal((await curl(server, '/v1/chat', ...handshake({ 'Sec-WebSocket-Key': 'short' }))).status, 400);
});

scenario('origins: none, the host itself and the listed are accepted, others not', ['--origin', 'https://shop.example'], async (server) => {
  assert.equal((await curl(server, '/v1/chat', ...handshake({ Origin: 'https://evil.example' }))).status, 403);
  assert.equal((await curl(server, '/v1/chat', ...handshake({ Origin: 'https://shop.example.evil' }))).status, 403);
  assert.equal(await status_with_origin(server, null), 101);
  assert.equal(await status_with_origin(server, server.http), 101);
  assert.equal(await status_with_origin(server, 'https://shop.example'), 101);
});

on_it('health and readiness are answered', async (server) => {
  assert.equal((await curl(server, '/healthz')).status, 200);
  assert.equal((await curl(server, '/readyz')).status, 200);
  assert.equal((await curl(server, '/no/such/place')).status, 404);
});

on_it('requests that a client asked without reading are answered when it reads', async (server) => {
  const kRequests = 800; // together more than the server keeps for one connection
  const socket = connect(server.port, '127.0.0.1');
  socket.pause();
  socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(kRequests));
  await setTimeout(500);
  let answers = 0;
  const all = new Promise((resolve, reject) => {
    socket.setEncoding('latin1').on('data', (text) => {
      answers += text.split('# TYPE taut_turns_total').length - 1;
      if (answers >= kRequests - 5) resolve(); // a few may be cut by the borders of the chunks
    });
    socket.on('error', reject).on('close', () => reject(new Error(`closed after ${answers} answers`)));
  });
  socket.resume();
  await within(all, () => `all answers, not ${answers}`);
  socket.destroy();
});

on_it('metrics are Prometheus text and count', async (server) => {
  await talk(server);
  const { status, head, body } = await curl(server, '/metrics');
  assert.equal(status, 200);
  assert.match(head, /content-type: *text\/plain/i);
  assert.match(body, /^# TYPE taut_\w+ (counter|gauge|histogram|summary)$/m);
  for (const line of body.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    assert.match(line, /^[a-zA-Z_:][\w:]*(\{[^}]*\})? -?([\d.]+([eE][-+]?\d+)?|\+?Inf|NaN)$/, line);
  }
});

on_it('tokens over HTTP need an admin key, and without a key file there is none', async (server) => {
  const { status } = await curl(server, '/v1/tokens', '--request', 'POST', '--data', '{}', '--header', 'Authorization: Bearer x');
  assert.equal(status, 403);
});

const kAdminKey = 'an admin key of more than thirty-two bytes';

async function with_admin_key(server, body) {
  const key_file = server.file('admin', `${kAdminKey}\n`);
  const other = await Server.start(['--admin-key-file', key_file]);
  try {
    await body(other);
    for (const peer of other.peers) peer.drop();
    await other.stop();
  } finally {
    other.dispose();
  }
}

on_it('the admin key makes tokens that are welcome', (place) =>
  with_admin_key(place, async (server) => {
    const wanted = { role: 'agent', id: 'a7', site: 'demo', groups: ['sales'], capacity: 2, ttl_s: 60 };
    const post = (key, data) => curl(server, '/v1/tokens', '--header', `Authorization: Bearer ${key}`, '--header', 'Content-Type: application/json', '--data', data);
    assert.ok([401, 403].includes((await post('wrong', JSON.stringify(wanted))).status));
    const bad = await post(kAdminKey, '{"role":"emperor"}');
    assert.equal(bad.status, 400);
    assert.match(bad.head, /content-type: *application\/problem\+json/i);
    const { status, body } = await post(kAdminKey, JSON.stringify(wanted));
    assert.ok([200, 201].includes(status), body);
    const peer = await Peer.open(server);
    peer.say({ type: 'hello', version: 1, role: 'agent', site: 'demo', token: JSON.parse(body).token, device: 'd' });
    assert.equal((await peer.take('welcome')).id, 'a7');
  }),
);

on_it('demo tokens are offered only with --demo', async (server) => {
  const { status } = await curl(server, '/v1/demo/token', '--header', 'Content-Type: application/json', '--data', '{"role":"visitor"}');
  assert.ok([403, 404].includes(status), String(status));
});
