// A disk that refuses: whoever would change something is told, nothing is half kept, the rest goes on, and it recovers by itself.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { is_durable, open, talk, up_to, visitor } from './peer.mjs';
import { kSlowness, scenario, Server, within } from './server.mjs';

/** Sends until the journal takes nothing more; returns the last send that was accepted and is not on the disk. */
async function send_until_refused(server, v, c, bytes) {
  for (let i = 0; ; i++) {
    const frame = { type: 'send', conversation: c, client_msg_id: `first${i}`, text: 'x'.repeat(bytes) };
    const { seq, ref } = await v.get('ack', frame);
    const refused = () => /the journal takes nothing/.test(server.stderr);
    const told = async () => {
      while (!refused() && !v.frames.some(is_durable(ref))) await sleep(5);
    };
    await within(told(), 'a durable ack or a refusal');
    if (refused() && !v.frames.some(is_durable(ref))) return { frame, seq, ref };
  }
}

/** What is refused while the disk is, what goes on, and what is there when it has come back. */
async function refuse_and_recover(server, refuse_writes, bytes) {
  const { a, v, c } = await talk(server);
  const queued = await visitor(server, 'v2');
  const waiting = await open(queued, 'support');
  await a.take((f) => f.type === 'assigned' && f.conversation === waiting);
  const before = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'before', text: 'before' });
  await v.take(is_durable(before.ref));

  const end = refuse_writes(server);
  const first = await send_until_refused(server, v, c, bytes);
  await a.item(c, first.seq);
  for (const frame of [
    { type: 'send', conversation: c, client_msg_id: 'second', text: 'not kept' },
    { type: 'close', conversation: c },
  ]) {
    const { retryable, retry_after_ms } = await v.refused('storage', frame);
    assert.equal(retryable, true);
    assert.ok(retry_after_ms > 0);
  }
  await (await visitor(server, 'v3')).refused('storage', { type: 'open', group: 'sales' });
  await a.refused('storage', { type: 'transfer', conversation: c, to: { group: 'support' } });
  await a.refused('storage', { type: 'take', conversation: waiting });
  // What was accepted is still known, and reading and receipts go on.
  const again = await v.get('ack', first.frame);
  assert.deepEqual([again.dup, again.seq], [true, first.seq]);
  assert.equal((await v.get('history', { type: 'history', conversation: c })).items.at(-1).seq, first.seq);
  a.say({ type: 'read', conversation: c, seq: first.seq });
  await v.take((f) => f.type === 'receipt' && f.seq === first.seq);
  // A decision of the dispatcher: the offer is declined, requeued and, by nobody, taken.
  await a.get('ok', { type: 'decline', conversation: waiting });
  const requeued = await queued.take((f) => f.event === 'requeued');

  end();
  await server.logged(/the journal takes records again/);
  await v.take(is_durable(first.ref));
  const second = await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'second', text: 'kept now' });
  assert.equal(second.seq, first.seq + 1, 'what was refused left no hole');
  await v.take(is_durable(second.ref));
  await sleep(300 * kSlowness); // nobody tells when what waited in memory is on the disk, too

  await server.crash();
  const v2 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
  await v2.take('resumed');
  assert.deepEqual(v2.seqs(c), up_to(second.seq));
  assert.ok(v2.frames.some((f) => f.type === 'receipt' && f.seq === first.seq && f.level === 'read'), 'said while the disk refused');
  const queued2 = await visitor(server, 'v2', { resume: [{ conversation: waiting, epoch: 1, seq: 0 }] });
  await queued2.take('resumed');
  assert.deepEqual(queued2.items(waiting).at(-1).event, requeued.event, 'decided while the disk refused');
}

scenario('a limit of file sizes is a disk that refuses, and recovers', [], (server) => {
  const limit = (bytes) => execFileSync('prlimit', ['--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  const refuse_writes = () => {
    limit(1);
    return () => limit('unlimited');
  };
  return refuse_and_recover(server, refuse_writes, 100);
});

test('a full disk refuses, and recovers when there is room', async (t) => {
  const server = Server.prepare(['--journal-segment-bytes', '4MiB', '--rate-visitor', '0']);
  mkdirSync(server.data);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', server.data]);
  if (mounted.status !== 0) return t.skip('mounting a small disk is not allowed here');
  const hoard = join(server.data, 'hoard');
  try {
    await server.start_again();
    await refuse_and_recover(server, () => {
      const file = openSync(hoard, 'w');
      try {
        for (;;) writeSync(file, Buffer.alloc(64 * 1024));
      } catch (error) {
        assert.equal(error.code, 'ENOSPC');
      } finally {
        closeSync(file);
      }
      return () => rmSync(hoard);
    }, 16_000); // what was taken from the disk beforehand is used up first
    await server.stop();
  } finally {
    server.signal('SIGKILL');
    await server.exited;
    execFileSync('umount', ['-l', server.data]);
    server.dispose();
  }
});

scenario('a process that was stopped for a while goes on', [], async (server) => {
  const { a, v, c } = await talk(server);
  server.signal('SIGSTOP');
  const sent = v.get('ack', { type: 'send', conversation: c, client_msg_id: 'm', text: 'into a stopped process' });
  await sleep(500);
  server.signal('SIGCONT');
  const { ref, seq } = await sent;
  await within(v.take(is_durable(ref)), 'the durable ack');
  await a.item(c, seq);
});
