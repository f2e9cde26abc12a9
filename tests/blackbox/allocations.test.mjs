// What a message costs beside time, counted: heap allocations, memory that grows, system calls.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { metrics, pair } from './chatter.mjs';
import { kSlowness, scenario, within } from './server.mjs';

const kPairs = 4;
const kWindow = 32; // sends of one person on their way at once
const kWarm = 4_200; // messages of each person: longer than the memory of ids (4,096) and the history kept
const kMessages = Math.round(8_000 / kSlowness); // of each person, counted
const kFlags = ['--rate-visitor', '0', '--rate-agent', '0', '--history-items', '256', '--store', 'none']; // a database allocates, on a thread of its own

async function everybody_sends(pairs, count) {
  await Promise.all(
    pairs.flatMap(({ agent, visitor, conversation }) => [agent.send_many(conversation, count, kWindow), visitor.send_many(conversation, count, kWindow)]),
  );
}

async function meet(server) {
  const pairs = await Promise.all(Array.from({ length: kPairs }, (_, i) => pair(server, i)));
  for (const { agent } of pairs) await agent.get('assigned');
  // Whoever was assigned to whom: each conversation's owner must be the one who sends into it.
  const owners = new Map(await Promise.all(pairs.map(async ({ agent }) => [(await agent.get('assigned')).conversation, agent])));
  return pairs.map(({ visitor, conversation }) => ({ visitor, conversation, agent: owners.get(conversation) }));
}

for (const shards of [1, 4]) {
  scenario(
    `warm, messages in both directions allocate nothing and memory does not grow (${shards} shards)`,
    kFlags,
    async (server, t) => {
      const pairs = await meet(server);
      if ((await metrics(server)).taut_allocations_total === 0) return t.skip('this build does not count allocations');
      await everybody_sends(pairs, kWarm);
      const idle = await metrics(server);
      const before = await metrics(server);
      const per_scrape = before.taut_allocations_total - idle.taut_allocations_total;
      await everybody_sends(pairs, kMessages);
      const after = await metrics(server);
      const messages = after.taut_messages_accepted_total - before.taut_messages_accepted_total;
      const allocations = after.taut_allocations_total - before.taut_allocations_total - per_scrape;
      t.diagnostic(`${allocations} allocations beside ${per_scrape} of a scrape, ${messages} messages`);
      assert.equal(messages, 2 * kPairs * kMessages);
      // The sum of a log line and a longer page now and then, but nothing that comes with messages.
      assert.ok(allocations < messages / 1_000, `${allocations} allocations for ${messages} messages`);
      assert.equal(after.taut_pool_refused_total, 0);
      assert.ok(after.taut_pool_slab_bytes <= before.taut_pool_slab_bytes * 1.1, 'the pools hold no more than before');
      for (const { agent, visitor } of pairs) await visitor.until(() => visitor.pushed >= kWarm + kMessages, 'the last push');
    },
    { shards },
  );
}

/** Counts the calls of a process by name until `body` has run. Nothing where tracing is not allowed. */
async function calls_during(pid, names, body) {
  const tracer = spawn('strace', ['-f', '-c', '-e', `trace=${names}`, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let report = '';
  const attached = new Promise((resolve) => {
    tracer.stderr.on('data', (bytes) => {
      report += bytes;
      if (report.includes('attached')) resolve(true);
    });
    tracer.on('error', () => resolve(false));
    tracer.on('close', () => resolve(false));
  });
  if (!(await within(attached, 'strace to attach'))) return null;
  await body();
  const ended = new Promise((resolve) => tracer.on('close', resolve));
  tracer.kill('SIGINT');
  await within(ended, 'the report of strace');
  const calls = {};
  for (const line of report.split('\n')) {
    const found = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/.exec(line);
    if (found) calls[found[2]] = Number(found[1]);
  }
  return calls;
}

scenario('one message at a time takes one read and one write per receiver', [...kFlags, '--mode', 'none'], async (server, t) => {
  const [{ agent, visitor, conversation }] = await meet(server);
  await visitor.send_many(conversation, 10, 1);
  const kSends = 200;
  const calls = await calls_during(server.pid, 'recvfrom,sendto,sendmsg,read,write', async () => {
    for (let i = 0; i < kSends; i++) {
      const pushes = agent.pushed + 1;
      await visitor.send_many(conversation, 1, 1);
      await agent.until(() => agent.pushed >= pushes, 'the push');
    }
  });
  if (calls === null) return t.skip('no strace, or it may not attach');
  t.diagnostic(JSON.stringify(calls));
  const slack = 20; // pings; the last calls, which may end when strace has stopped counting
  assert.ok(calls.recvfrom >= kSends - slack && calls.recvfrom <= kSends + slack, `${calls.recvfrom} reads`);
  const writes = (calls.sendto ?? 0) + (calls.sendmsg ?? 0);
  assert.ok(writes >= 2 * kSends - slack && writes <= 2 * kSends + slack, `${writes} writes: an ack and a push each`);
});

scenario('a durable ack is at most one write more', kFlags, async (server, t) => {
  const [{ agent, visitor, conversation }] = await meet(server);
  await visitor.send_many(conversation, 10, 1);
  await visitor.until(() => visitor.durable === 10, 'the durable acks');
  const kSends = 200;
  const calls = await calls_during(server.pid, 'sendto,sendmsg,pwritev,fdatasync', async () => {
    await visitor.send_many(conversation, kSends, 1);
    await agent.until(() => agent.pushed >= kSends + 10, 'the pushes');
    await visitor.until(() => visitor.durable === kSends + 10, 'the durable acks');
  });
  if (calls === null) return t.skip('no strace, or it may not attach');
  t.diagnostic(JSON.stringify(calls));
  const slack = 20;
  const writes = (calls.sendto ?? 0) + (calls.sendmsg ?? 0);
  assert.ok(writes <= 3 * kSends + slack, `${writes} writes: an ack, a push and a durable ack each`);
  assert.ok(calls.fdatasync <= kSends + slack && calls.pwritev <= kSends + slack, 'a message is at most one write to the disk and one sync');
});

scenario('many messages at once share reads and writes', kFlags, async (server, t) => {
  const [{ agent, visitor, conversation }] = await meet(server);
  const kSends = 4_000;
  const calls = await calls_during(server.pid, 'recvfrom,sendto,sendmsg', async () => {
    await visitor.send_many(conversation, kSends, 256);
    await agent.until(() => agent.pushed >= kSends, 'the last push');
  });
  if (calls === null) return t.skip('no strace, or it may not attach');
  t.diagnostic(JSON.stringify(calls));
  const all = calls.recvfrom + (calls.sendto ?? 0) + (calls.sendmsg ?? 0);
  assert.ok(all < kSends, `${all} calls for ${kSends} messages, their acks and their pushes`);
});
