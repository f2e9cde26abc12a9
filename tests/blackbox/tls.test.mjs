// Connections over TLS: who gets in, what moves with a connection, certificates that change, handshakes that dawdle.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connect_tls } from 'node:tls';
import { promisify } from 'node:util';
import { make_certificate } from './certificate.mjs';
import { metrics } from './chatter.mjs';
import { Peer, agent, open, talk, up_to, visitor } from './peer.mjs';
import { kSlowness, run, scenario, scenario_on_shards, within } from './server.mjs';

const execute = promisify(execFile);
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; // for fetch; who the server is, is asked with curl and openssl
process.removeAllListeners('warning'); // which Node says on every run because of it

const first = make_certificate('first');
const second = make_certificate('second');
const large = make_certificate('large', ['rsa:4096']);
const flags = (pair) => ['--tls-cert', pair.cert, '--tls-key', pair.key];

/** The name in the certificate that a new connection gets. */
async function name_served(server) {
  const asked = execute('openssl', ['s_client', '-connect', `127.0.0.1:${server.port}`]);
  asked.child.stdin.end();
  return /subject=CN ?= ?(\w+)/.exec((await asked).stdout)[1];
}

/** Ends when the server has ended a connection that says `bytes` and then nothing. */
function end_of_silence(server, bytes) {
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes)).on('error', () => {});
  return new Promise((resolve) => socket.resume().on('close', resolve));
}

// The visitor's and the agent's connections move to their home shards with keys and all.
scenario_on_shards('people talk over TLS, moved between shards as without', flags(first), async (server) => {
  assert.match(server.stdout[0], /^listening wss=/);
  for (const i of up_to(4)) {
    const { a, v, c } = await talk(server, { visitor_id: `v${i}`, agent_id: `a${i}` });
    await a.get('ok', { type: 'presence', status: 'busy' });
    const text = 'words '.repeat(2_000); // more than a frame in one packet
    for (const n of up_to(20)) {
      const { seq } = await v.send(c, `${n} ${text}`);
      assert.equal((await a.item(c, seq)).text, `${n} ${text}`);
      await v.item(c, (await a.send(c, `answer ${n}`)).seq);
    }
  }
  assert.ok((await metrics(server)).taut_tls_handshakes_total >= 8);
});

scenario('HTTP is answered over TLS, large pages too, and the end is said', flags(first), async (server) => {
  const curl = (...options) => execute('curl', ['--silent', '--show-error', '--cacert', first.cert, ...options, `${server.http}/metrics`]);
  for (const version of ['1.2', '1.3']) assert.match((await curl('--tlsv' + version, '--tls-max', version)).stdout, /taut_turns_total/);
  const asked = execute('openssl', ['s_client', '-quiet', '-ign_eof', '-connect', `127.0.0.1:${server.port}`]);
  asked.child.stdin.end('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const { stdout, stderr } = await asked;
  assert.match(stdout, /200 OK/);
  assert.doesNotMatch(stderr, /unexpected eof/);
});

scenario('what is older than TLS 1.2, and what is not TLS, is turned away', flags(first), async (server) => {
  const old = connect_tls({ port: server.port, host: '127.0.0.1', minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
  await within(new Promise((resolve, reject) => old.on('error', resolve).on('secureConnect', () => reject(new Error('TLS 1.1')))), 'the refusal');
  await within(end_of_silence(server, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'), 'the end of plain HTTP');
  assert.equal((await metrics(server)).taut_tls_failed_total, 2);
  await (await visitor(server, 'v1')).alive();
});

scenario('SIGHUP brings a new certificate to new connections; a bad one changes nothing', [], async (place) => {
  const cert = place.file('live.crt', '');
  const key = place.file('live.key', '');
  const put = (pair) => [copyFileSync(pair.cert, cert), copyFileSync(pair.key, key)];
  put(first);
  const { Server } = await import('./server.mjs');
  const server = await Server.start(['--tls-cert', cert, '--tls-key', key]);
  try {
    const before = await visitor(server, 'v1');
    assert.equal(await name_served(server), 'first');
    put(second);
    server.signal('SIGHUP');
    await server.logged(/new certificate/);
    assert.equal(await name_served(server), 'second');
    await before.alive();

    writeFileSync(cert, 'no certificate\n');
    server.signal('SIGHUP');
    await server.logged(/the old certificate stays: holds no certificate in PEM: --tls-cert/);
    copyFileSync(first.cert, cert); // with the other one's key
    server.signal('SIGHUP');
    await server.logged(/the old certificate stays: is not the certificate's key: --tls-key/);
    assert.equal(await name_served(server), 'second');
    await before.alive();
    before.drop();
    await server.stop();
  } finally {
    server.dispose();
  }
});

scenario('SIGHUP without a certificate does nothing and says so', [], async (server) => {
  server.signal('SIGHUP');
  await server.logged(/SIGHUP: nothing to read again/);
  await (await visitor(server, 'v1')).alive();
});

scenario('files that cannot be used are one line and an exit', [], async (server) => {
  const serve = (...more) => run(['serve', '--listen', '127.0.0.1:0', '--secret-file', server.secret_file, ...more]);
  for (const [more, code, words] of [
    [['--tls-cert', first.cert], 2, /--tls-cert and --tls-key go together/],
    [['--tls-cert', '/nowhere.crt', '--tls-key', first.key], 2, /cannot be read, No such file or directory: --tls-cert \/nowhere\.crt/],
    [['--tls-cert', first.cert, '--tls-key', second.key], 2, /is not the certificate's key: --tls-key/],
    [['--tls-cert', first.key, '--tls-key', first.key], 2, /holds no certificate in PEM: --tls-cert/],
  ]) {
    const ended = await serve(...more);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, words);
    assert.equal(ended.stderr.split('\n').length, 2, ended.stderr);
  }
  const locked = `${first.key}.locked`;
  execFileSync('openssl', ['pkey', '-in', first.key, '-aes256', '-passout', 'pass:secret', '-out', locked]);
  assert.match((await serve('--tls-cert', first.cert, '--tls-key', locked)).stderr, /holds no key in PEM without a passphrase/);
});

scenario('a handshake that dawdles is ended in time', [...flags(first), '--hello-timeout-ms', '1s'], async (server) => {
  const hello = Buffer.from('1603010200010001fc0303', 'hex'); // the beginning of a ClientHello
  const began = Date.now();
  await within(Promise.all([end_of_silence(server, ''), end_of_silence(server, hello)]), 'the end of both');
  assert.ok(Date.now() - began >= 900);
});

// An RSA key of 4,096 bits: some milliseconds of computing for each of them, on the one shard that there is.
scenario('a crowd of handshakes does not keep those who are in from talking', flags(large), async (server) => {
  const { a, v, c } = await talk(server);
  let crowd_is_in = false;
  const crowd = Promise.all(up_to(150).map((i) => Peer.open(server).then((peer) => (i, peer)))).then(() => (crowd_is_in = true));
  let rounds = 0;
  for (; !crowd_is_in || rounds < 5; rounds++) {
    const { seq } = await within(v.send(c, `text ${rounds}`), 'an ack amid handshakes', 2_000 * kSlowness);
    await within(a.item(c, seq), 'a push amid handshakes', 2_000 * kSlowness);
  }
  await crowd;
  assert.ok(rounds >= 5);
}, { shards: 1 });

scenario('one who stops reading over TLS is closed with 4103, and what came has no hole', [...flags(first), '--rate-agent', '0', '--soft-limit-bytes', '32768', '--hard-limit-bytes', '65536', '--history-items', '2048'], async (server) => {
  const { a, v, c } = await talk(server);
  v.pause();
  for (const _ of up_to(700)) await a.send(c, 'x'.repeat(16_000));
  v.resume();
  assert.equal((await v.end()).code, 4103);
  const got = v.seqs(c);
  assert.deepEqual(got, up_to(got.at(-1), got[0]));
  const back = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: got.at(-1) }] });
  await back.item(c, got.at(-1) + 1);
});

scenario('SIGTERM says 4200 over TLS', flags(first), async (server) => {
  const peers = [await visitor(server, 'v1'), await agent(server, 'a1')];
  await open(peers[0]);
  const silent = end_of_silence(server, ''); // in the middle of its handshake
  const stopping = server.stop();
  for (const peer of peers) assert.equal((await peer.end()).code, 4200);
  await within(silent, 'the end of the silent one');
  await stopping;
});
