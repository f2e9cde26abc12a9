// Where things are served, who of other origins may ask for them, and what `taut config` says about it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Peer, visitor } from './peer.mjs';
import { metrics } from './chatter.mjs';
import { on_one_server, run, scenario } from './server.mjs';

const below = on_one_server(['--path-prefix', '/x/y', '--demo', '--origin', 'https://shop.example']);

below('everything is served below the prefix and nothing beside it', async (server) => {
  const get = async (path) => (await fetch(`${server.http}${path}`)).status;
  for (const path of ['/x/y/healthz', '/x/y/readyz', '/x/y/metrics', '/x/y/', '/x/y/taut-client.mjs']) assert.equal(await get(path), 200, path);
  for (const path of ['/healthz', '/metrics', '/', '/x', '/x/y', '/x/yhealthz', '/v1/chat']) assert.equal(await get(path), 404, path);
  assert.equal((await fetch(`${server.http}/x/y/v1/demo/token`, { method: 'POST', body: '{"role":"visitor"}' })).status, 201);
});

below('WebSockets open below the prefix only', async (server) => {
  await (await visitor(server, 'v1', { path: '/x/y/v1/chat' })).alive();
  await assert.rejects(Peer.open(server), /404/);
});

const kPreflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' } };
const from = (origin, init = {}) => ({ ...init, headers: { ...init.headers, origin } });

below('a listed origin may call the API and is named; no star, no credentials', async (server) => {
  const tokens = `${server.http}/x/y/v1/tokens`;
  const asked = await fetch(tokens, from('https://shop.example', kPreflight));
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get('access-control-allow-origin'), 'https://shop.example');
  assert.match(asked.headers.get('access-control-allow-methods'), /POST/);
  assert.match(asked.headers.get('access-control-allow-headers'), /authorization/i);
  assert.equal(asked.headers.get('access-control-allow-credentials'), null);
  assert.match(asked.headers.get('vary'), /origin/i);
  const refused = await fetch(tokens, from('https://shop.example', { method: 'POST', body: '{}' })); // no admin key here
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.get('access-control-allow-origin'), 'https://shop.example', 'the page may read why');
});

below('another origin gets neither leave nor a token', async (server) => {
  const asked = await fetch(`${server.http}/x/y/v1/tokens`, from('https://evil.example', kPreflight));
  assert.equal(asked.status, 403);
  assert.equal(asked.headers.get('access-control-allow-origin'), null);
  const posted = await fetch(`${server.http}/x/y/v1/demo/token`, from('https://evil.example', { method: 'POST', body: '{}' }));
  assert.equal(posted.status, 403);
  const read = await fetch(`${server.http}/x/y/healthz`, from('https://evil.example'));
  assert.deepEqual([read.status, read.headers.get('access-control-allow-origin')], [200, null]);
});

scenario('`taut config` says what is in force and why, and can be fed back', [], async (server) => {
  const file = server.file('taut.toml', `site = "shop"\nping-ms = "30s"\nsecret-file = ["${server.secret_file}"]\n`);
  const args = ['--config', file, '--ping-ms', '20s', '--group', 'sales', '--group', 'support'];
  const said = await run(['config', ...args]);
  assert.equal(said.code, 0, said.stderr);
  const line = (key) => new RegExp(`^${key} = .*$`, 'm').exec(said.stdout)[0];
  assert.equal(line('site'), `site = "shop"  # ${file}:1:8`);
  assert.equal(line('ping-ms'), 'ping-ms = "20s"  # --ping-ms');
  assert.equal(line('group'), 'group = ["sales", "support"]  # --group');
  assert.equal(line('accept-ms'), 'accept-ms = "30s"  # default');
  assert.ok(!said.stdout.includes(server.secret), 'files of secrets are named, never shown');
  const again = join(server.folder, 'again.toml');
  writeFileSync(again, said.stdout);
  const values = (text) => text.replace(/ {2}# .*$/gm, '');
  assert.equal(values((await run(['config', '--config', again])).stdout), values(said.stdout));
});

test('`taut config` refuses what `taut serve` refuses', async () => {
  assert.equal((await run(['config'])).code, 2);
  assert.match((await run(['config', '--secret-file', 's', '--path-prefix', 'x'])).stderr, /a path like \/x/);
});

// Everybody comes back at once: the kernel holds them, and who is in goes on.
scenario('a storm of newcomers is let in at --handshake-rate, and nobody is turned away', ['--handshake-rate', '20/10'], async (server) => {
  const inside = await visitor(server, 'inside');
  const began = Date.now();
  const storm = Array.from({ length: 70 }, (_, i) => visitor(server, `v${i}`));
  for (let i = 0; i < 10; i++) await inside.alive();
  await Promise.all(storm);
  assert.ok(Date.now() - began > 2_000, `all in after ${Date.now() - began} ms`); // 60 beyond the burst, 20 a second
  assert.ok((await metrics(server)).taut_accepts_paused_total > 0);
}, { shards: 1 });
