// The texts that agents send often, from a file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { agent, visitor } from './peer.mjs';
import { kBinary, scenario } from './server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'taut-replies-'));
const file = join(folder, 'replies.json');
const write = (replies) => writeFileSync(file, typeof replies === 'string' ? replies : JSON.stringify(replies));
const hours = { name: 'hours', text: 'Open\n"9 to 5" <b>' };
const price = { name: 'price', text: '€ 20', groups: ['sales'] };
const names = async (peer) => (await peer.get('replies', { type: 'replies' })).replies.map(({ name }) => name);

write([hours, price, { name: 'reset', text: 'Off and on', groups: ['support'] }]);

scenario('agents get the replies of their groups, in the order of the file', ['--group', 'sales', '--group', 'support', '--replies-file', file], async (server) => {
  const sales = await agent(server, 'a1', { claims: { groups: ['sales'] } });
  assert.deepEqual((await sales.get('replies', { type: 'replies' })).replies, [hours, { name: 'price', text: '€ 20' }]);
  const both = await agent(server, 'a2', { claims: { groups: ['support', 'sales'] } });
  assert.deepEqual(await names(both), ['hours', 'price', 'reset']);
  await (await visitor(server, 'v1')).refused('forbidden', { type: 'replies' });
});

scenario('SIGHUP reads the file again, and a bad one changes nothing', ['--replies-file', file], async (server) => {
  write([hours]);
  const a = await agent(server, 'a1');
  server.signal('SIGHUP');
  await server.logged(/agents who ask from now on get the new replies/);
  assert.deepEqual(await names(a), ['hours']);
  write('[{"name":"hours"}]');
  server.signal('SIGHUP');
  await server.logged(/the old replies stay: entry 1: text: missing: --replies-file/);
  assert.deepEqual(await names(a), ['hours']);
  write([]);
});

scenario('without a file there are none', [], async (server) => {
  assert.deepEqual(await names(await agent(server, 'a1')), []);
});

scenario('the largest file there may be is one answer', ['--replies-file', file], async (server) => {
  const long = Array.from({ length: 12 }, (_, i) => ({ name: `${i}`, text: '\u0001'.repeat(860) })); // 6 bytes each, read and written
  write(long);
  const a = await agent(server, 'a1');
  server.signal('SIGHUP');
  await server.logged(/agents who ask from now on get the new replies/);
  assert.deepEqual((await a.get('replies', { type: 'replies' })).replies, long);
});

test('a file that cannot be used is wrong usage, and the line says where', () => {
  const refused = (replies, line) => {
    write(replies);
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'x'.repeat(32));
    const { status, stderr } = spawnSync(kBinary, ['serve', '--listen', '127.0.0.1:0', '--secret-file', secret, '--replies-file', file], { encoding: 'utf8' });
    assert.equal(status, 2, stderr);
    assert.match(stderr, line);
  };
  refused([{ name: 'a', text: 'b', groups: ['nobody'] }], /"a": there is no group nobody: --replies-file .*replies\.json/);
  refused([{ name: 'a', text: 'b', color: 1 }], /entry 1: color: unknown/);
  refused('x', /must be a JSON array/);
  refused([{ name: 'a', text: 'x'.repeat(70_000) }], /longer than 65536 bytes/);
  spawnSync('mkfifo', [join(folder, 'pipe')]);
  for (const [path, words] of [[join(folder, 'pipe'), 'is no regular file'], [folder, 'is a directory']]) {
    const { status, stderr } = spawnSync(kBinary, ['serve', '--listen', '127.0.0.1:0', '--secret-file', join(folder, 'secret'), '--replies-file', path], { encoding: 'utf8', timeout: 20_000 });
    assert.deepEqual([status, stderr.includes(`${path}: ${words}`)], [2, true], stderr);
  }
});
