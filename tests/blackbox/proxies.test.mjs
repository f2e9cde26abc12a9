// Behind proxies: whose word about the client's address is taken, and what happens to a header that is broken.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { connect as connect_tls } from 'node:tls';
import { make_certificate } from './certificate.mjs';
import { Peer } from './peer.mjs';
import { run, scenario, within } from './server.mjs';

const certificate = make_certificate('proxied');
const kTrusting = ['--trusted-proxy', '127.0.0.0/8', '--log-level', 'debug'];
const kSignature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** A header of PROXY version 2 that names this IPv4 client. */
function proxy_header(client, { command = 0x21, family = 0x11, more = 0 } = {}) {
  const rest = Buffer.alloc(12 + more);
  Buffer.from(client.split('.').map(Number)).copy(rest);
  return Buffer.concat([kSignature, Buffer.from([command, family, rest.length >> 8, rest.length & 255]), rest]);
}

const kRequest = 'GET /v1/chat HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'; // refused with 426, and logged

/** All that the server says to `bytes`, written piece by piece, until it ends the connection. */
function answer_to(server, ...bytes) {
  const socket = connect(server.port, '127.0.0.1').setNoDelay(true);
  const said = new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => (text += data)).on('error', () => {}).on('close', () => resolve(text));
  });
  (async () => {
    for (const piece of bytes) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    if (bytes.some((piece) => piece === kRequest)) socket.end();
  })();
  return within(said, 'the end of the connection');
}

scenario('X-Forwarded-For of a trusted proxy names the client in the log', kTrusting, async (server) => {
  const headers = { 'x-forwarded-for': '6.6.6.6, 198.51.100.7, 127.0.0.9' };
  const peer = await Peer.open(server, { headers });
  peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token: 'none', device: 'd' });
  await peer.end();
  await server.logged(/from 198\.51\.100\.7: hello refused/);
});

scenario('X-Forwarded-For of anybody else is not believed', ['--trusted-proxy', '10.0.0.0/8', '--log-level', 'debug'], async (server) => {
  await answer_to(server, kRequest.replace('Host: a', 'Host: a\r\nX-Forwarded-For: 198.51.100.7'));
  await server.logged(/from 127\.0\.0\.1: handshake refused/);
  assert.doesNotMatch(server.stderr, /198\.51/);
});

scenario('a PROXY header names the client, in however many pieces it comes', [...kTrusting, '--proxy-protocol'], async (server) => {
  const header = proxy_header('192.0.2.7', { more: 40 });
  assert.match(await answer_to(server, header, kRequest), /^HTTP\/1\.1 426/);
  await server.logged(/from 192\.0\.2\.7: handshake refused/);
  const pieces = [header.subarray(0, 5), header.subarray(5, 17), header.subarray(17, 40), header.subarray(40)];
  assert.match(await answer_to(server, ...pieces, kRequest), /^HTTP\/1\.1 426/);
  assert.match(await answer_to(server, Buffer.concat([proxy_header('0.0.0.0', { command: 0x20 }), Buffer.from(kRequest)])), /^HTTP\/1\.1 426/);
  await server.logged(/from 127\.0\.0\.1: handshake refused/); // the proxy for itself
});

scenario('a malformed PROXY header ends the connection with one line, and nothing else', [...kTrusting, '--proxy-protocol'], async (server) => {
  const bad = [kRequest, 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n', proxy_header('1.2.3.4', { command: 0x11 }), proxy_header('1.2.3.4', { family: 0x12 }), proxy_header('1.2.3.4', { family: 0x21 }), proxy_header('1.2.3.4', { more: 2_000 })];
  for (const bytes of bad) assert.equal(await answer_to(server, bytes), '', String(bytes));
  await server.logged(new RegExp(`(PROXY header refused[^]*){${bad.length}}`));
  assert.equal(server.stderr.match(/PROXY header refused/g).length, bad.length);
  assert.match(await answer_to(server, proxy_header('192.0.2.7'), kRequest), /^HTTP\/1\.1 426/);
});

scenario('who says nothing of a PROXY header is ended in time', [...kTrusting, '--proxy-protocol', '--hello-timeout-ms', '1s'], async (server) => {
  assert.equal(await answer_to(server, kSignature), '');
});

scenario('a PROXY header of anybody else is a bad request', ['--trusted-proxy', '10.0.0.0/8', '--proxy-protocol'], async (server) => {
  assert.match(await answer_to(server, proxy_header('192.0.2.7'), kRequest), /^HTTP\/1\.1 400/);
  assert.match(await answer_to(server, kRequest), /^HTTP\/1\.1 426/);
});

scenario('the PROXY header comes before TLS', [...kTrusting, '--proxy-protocol', '--tls-cert', certificate.cert, '--tls-key', certificate.key], async (server) => {
  const raw = connect(server.port, '127.0.0.1');
  raw.write(proxy_header('192.0.2.7'));
  const socket = connect_tls({ socket: raw, rejectUnauthorized: false });
  socket.write(kRequest);
  const answer = await within(new Promise((resolve) => socket.once('data', (data) => resolve(String(data)))), 'the answer');
  assert.match(answer, /^HTTP\/1\.1 426/);
  await server.logged(/from 192\.0\.2\.7: handshake refused/);
  socket.destroy();
});

scenario('settings of proxies that make no sense are refused', [], async (server) => {
  const serve = (...more) => run(['serve', '--secret-file', server.secret_file, ...more]);
  assert.match((await serve('--proxy-protocol')).stderr, /--proxy-protocol needs --trusted-proxy/);
  assert.match((await serve('--trusted-proxy', 'proxy.example')).stderr, /--trusted-proxy proxy\.example: expected a network like/);
});
