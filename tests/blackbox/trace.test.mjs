// Where slow messages spent their time: /v1/trace/slowest, the stages in /metrics, and --record.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { talk } from './peer.mjs';
import { scenario, scenario_on_shards, Server } from './server.mjs';


const kStages = ['parse', 'decide', 'route', 'turn', 'ring', 'write'];
const folder = mkdtempSync(join(tmpdir(), 'taut-trace-'));
const key = 'k'.repeat(40);
const key_file = join(folder, 'admin-key');
writeFileSync(key_file, `${key}\n`);

const slowest = (server, headers) => fetch(`http://127.0.0.1:${server.port}/v1/trace/slowest`, { headers });

scenario('the slowest messages are for the admin alone', [], async (server) => {
  assert.equal((await slowest(server)).status, 403);
});

scenario_on_shards('the slowest messages name their conversation, and their stages sum to the total', ['--admin-key-file', key_file, '--trace-every', 1], async (server) => {
  assert.equal((await slowest(server)).status, 401);
  const { a, v, c } = await talk(server);
  const seqs = [];
  for (let i = 0; i < 20; i++) {
    const from = i % 2 ? a : v;
    const { seq } = await from.send(c, `text ${i}`);
    await (i % 2 ? v : a).item(c, seq);
    seqs.push(seq);
  }
  const page = await (await slowest(server, { authorization: `Bearer ${key}` })).json();
  const messages = page.minutes.flatMap((minute) => minute.messages);
  assert.ok(messages.length >= 8);
  for (const message of messages) {
    assert.equal(message.conversation, c);
    assert.ok(seqs.includes(message.seq));
    assert.ok(kStages.includes(message.blame));
    const sum = Object.values(message.stages_us).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - message.total_us) < 2, JSON.stringify(message));
    assert.equal(message.stages_us[message.blame], Math.max(...Object.values(message.stages_us)));
  }
  for (const minute of page.minutes) {
    const totals = minute.messages.map((message) => message.total_us);
    assert.deepEqual(totals, totals.toSorted((a, b) => b - a));
    assert.ok(Math.abs(Date.now() - minute.begin_ms) < 600_000);
  }
  const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
  const value = (name) => Number(new RegExp(`^${name.replaceAll(/[{}"]/g, '\\$&')} (.*)$`, 'm').exec(metrics)[1]);
  const total = value('taut_message_seconds_sum');
  const stages = kStages.reduce((sum, stage) => sum + value(`taut_stage_seconds_sum{stage="${stage}"}`), 0);
  assert.equal(value('taut_message_seconds_count'), 20);
  assert.ok(Math.abs(total - stages) < 1e-9 * 20, `${total} ${stages}`);
});

test('--record writes every message when the server has stopped', async () => {
  const file = join(folder, 'record.csv');
  const server = await Server.start(['--record', file, '--record-messages', 16]);
  const { a, v, c } = await talk(server);
  for (let i = 0; i < 40; i++) await a.item(c, (await v.send(c, `text ${i}`)).seq);
  assert.equal(readFileSync(file, 'utf8'), '');
  await server.stop();
  const [head, ...rows] = readFileSync(file, 'utf8').trim().split('\n');
  assert.equal(head, `shard,started_ns,seq,${kStages.map((stage) => `${stage}_ns`).join(',')}`);
  assert.equal(rows.length, 16, 'the latest ones');
  for (const row of rows) assert.equal(row.split(',').length, 9);
  await assert.rejects(Server.start(['--record', file]), /name another/);
});
