// The life of the process: the ready line, tokens from the command line, the data folder, SIGTERM.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Peer, visitor } from './peer.mjs';
import { Server, kBinary, kSlowness, run, scenario, within } from './server.mjs';
import { make_token } from './token.mjs';

scenario('prints one line when ready and creates its data folder', [], async (server) => {
  assert.match(server.stdout[0], /^listening ws=127\.0\.0\.1:\d+$/);
  assert.ok(existsSync(server.data));
});

scenario('SIGTERM closes every connection with 4200 and exits in time', [], async (server) => {
  const peers = [];
  for (let i = 0; i < 8; i++) peers.push(await visitor(server, `v${i}`));
  peers.push(await Peer.open(server)); // one that has not said hello
  const stopping = server.stop();
  for (const peer of peers) assert.equal((await peer.end()).code, 4200);
  await stopping;
});

scenario('SIGTERM exits in time though a client does not read', [], async (server) => {
  const peer = await visitor(server, 'v1');
  peer.pause();
  await server.stop();
});

const kDrainMs = 1_500 * kSlowness;

scenario('told to stop, it is not ready and serves on for --drain-ms, then says goodbye', ['--drain-ms', kDrainMs], async (server) => {
  const early = await visitor(server, 'early');
  assert.equal((await fetch(`${server.http}/readyz`)).status, 200);
  const begin = Date.now();
  server.signal('SIGTERM');
  await until(async () => (await fetch(`${server.http}/readyz`)).status === 503, '503 of /readyz');
  assert.equal((await fetch(`${server.http}/healthz`)).status, 200);
  const late = await visitor(server, 'late');
  await early.alive();
  for (const peer of [early, late]) assert.equal((await peer.end()).code, 4200);
  assert.ok(Date.now() - begin >= kDrainMs, `goodbye after ${Date.now() - begin} ms`);
});

scenario('goodbyes spread those who come back evenly over --drain-spread-ms', ['--drain-spread-ms', '40s', '--shards', '1'], async (server) => {
  const peers = await Promise.all([1, 2, 3, 4].map((i) => visitor(server, `v${i}`)));
  server.signal('SIGTERM');
  const told = [];
  for (const peer of peers) {
    const { code, reason } = await peer.end();
    assert.equal(code, 4200);
    told.push(Number(/ retry_after_ms=(\d+)$/.exec(reason)?.[1] ?? 0));
  }
  assert.deepEqual(told.sort((a, b) => a - b), [0, 10_000, 20_000, 30_000]);
});

scenario('a second SIGTERM ends the drain at once', ['--drain-ms', '1h'], async (server) => {
  server.signal('SIGTERM');
  await until(async () => (await fetch(`${server.http}/readyz`)).status === 503, '503 of /readyz');
});

scenario('a token of `taut token` is welcome', [], async (server) => {
  const args = ['token', '--secret-file', server.secret_file, '--role', 'agent', '--id', 'a1', '--site', 'demo'];
  const { code, stdout } = await run([...args, '--groups', 'sales,support', '--capacity', '3', '--ttl', '3600']);
  assert.equal(code, 0);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const peer = await Peer.open(server);
  peer.say({ type: 'hello', version: 1, role: 'agent', site: 'demo', token: stdout.trim(), device: 'd1' });
  const welcome = await peer.take('welcome');
  assert.deepEqual([welcome.id, welcome.role], ['a1', 'agent']);
  const { sub, role, site, groups, capacity, exp } = JSON.parse(Buffer.from(stdout.split('.')[1], 'base64url'));
  assert.deepEqual({ sub, role, site, groups, capacity }, { sub: 'a1', role: 'agent', site: 'demo', groups: ['sales', 'support'], capacity: 3 });
  assert.ok(exp > Date.now() / 1000);
});

test('a second secret verifies too', async () => {
  const old_secret = 'an old secret of more than thirty-two bytes';
  const place = await Server.start();
  const old_file = place.file('old', old_secret);
  const server = await Server.start(['--secret-file', old_file]);
  try {
    const peer = await Peer.open(server);
    const token = make_token(old_secret, { sub: 'v1', role: 'visitor', site: 'demo' });
    peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token, device: 'd' });
    assert.equal((await peer.take('welcome')).id, 'v1');
  } finally {
    server.dispose();
    place.dispose();
  }
});

scenario('a data folder has one server', [], async (server) => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--data', server.data, '--secret-file', server.secret_file];
  const { code, stdout, stderr } = await run([...args, '--site', 'demo', '--group', 'sales', '--shards', '1']);
  assert.notEqual(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, /data|lock/);
});

scenario('a secret under 32 bytes is refused with a line that says so', [], async (server) => {
  const short = server.file('short', 'short\n');
  const { code, stderr } = await run(['serve', '--listen', '127.0.0.1:0', '--data', join(server.folder, 'd2'), '--secret-file', short, '--site', 'demo']);
  assert.notEqual(code, 0);
  assert.match(stderr, /32/);
});

scenario('a port in use is refused with a line that names it', [], async (server) => {
  const address = `127.0.0.1:${server.port}`;
  const args = ['serve', '--listen', address, '--data', join(server.folder, 'd2'), '--secret-file', server.secret_file, '--site', 'demo'];
  const { code, stderr } = await run(args);
  assert.notEqual(code, 0);
  assert.ok(stderr.includes(address), `${kBinary}: ${stderr}`);
});

async function until(condition, what) {
  const met = async () => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await within(met(), what);
}

/** Standard error comes from the log thread, which looks ten times a second. */
const says = (server, line) => until(() => line.test(server.stderr), () => `${line} on standard error: ${server.stderr}`);

for (const wait of ['spin_park', 'yield', 'dotnet', 'backoff']) {
  scenario(`--wait ${wait} lets people in, says its name and stops in time`, ['--wait', wait], async (server) => {
    await visitor(server, 'v1');
    await says(server, new RegExp(`waiting ${wait}$`, 'm'));
  });
}

const real_time = ['--wait', 'spin_park', '--scheduling', 'fifo', '--pin', 'false', '--hold-cpu-latency', '--smt'];
scenario('what would do harm costs a line for each shard and nothing else', real_time, async (server) => {
  await says(server, /shard 0: goes on as other: spinning as fifo/);
  await says(server, /shard 1: goes on as other: spinning as fifo/);
  await visitor(server, 'v1');
});

scenario('more shards than cores with a thread of their own are not pinned, and say so', ['--pool-base-bytes', '0'], async (server) => {
  await says(server, /64 shards on \d+ usable cores.*: not pinned/);
}, { shards: 64 });

scenario('visitors who left nothing behind make room for newcomers within their grace', ['--connections-max', 4, '--conversations-max', 1, '--visitor-grace-ms', '1min'], async (server) => {
  for (let i = 0; i < 30; i++) {
    const v = await visitor(server, `v${i}`);
    await v.alive();
    v.close(1000);
    await v.end();
  }
}, { shards: 1 });
