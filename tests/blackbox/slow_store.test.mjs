// A history's database that is stopped or locked for a while: elsewhere messages came minutes late when the history was slow. Here nobody who
// talks waits for it, nothing is lost, and it catches up. TAUT_STORE_STOPPED_MS (3,000) says how long it is.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metrics } from './chatter.mjs';
import { caught_up, say_many, whole_history } from './history_reader.mjs';
import { talk, up_to } from './peer.mjs';
import { postgres_scenario } from './postgres.mjs';
import { kSlowness, scenario, within } from './server.mjs';

const kStoppedMs = Number(process.env.TAUT_STORE_STOPPED_MS ?? 3_000 * kSlowness);
const kKept = 100; // items of a conversation that memory keeps
const kFlags = ['--history-items', kKept, '--rate-visitor', 0, '--rate-agent', 0];
const kPauseMs = 10;

const median = (numbers) => numbers.sort((x, y) => x - y)[Math.floor(numbers.length / 2)];

/** One message behind the other, each until the agent has it, for so long. How long each took, in ms, and the last ack. */
async function talk_for({ a, v, c }, ms) {
  const took = [];
  let last;
  for (const until = performance.now() + ms; performance.now() < until; await sleep(kPauseMs)) {
    const sent = performance.now();
    last = await v.send(c, `text ${took.length}`);
    await a.item(c, last.seq);
    took.push(performance.now() - sent);
    for (const peer of [a, v]) peer.frames.splice(0, peer.frames.length - 50); // what was looked at
  }
  return { took, last };
}

/** While the store does nothing; `usual_ms` is what half of the messages took before. Returns the last ack. */
async function talks_on(server, chat, usual_ms) {
  const first = await talk_for(chat, kStoppedMs / 2);
  const middle = await metrics(server);
  const second = await talk_for(chat, kStoppedMs / 2);
  const end = await metrics(server);

  // All of it was pushed while the store did nothing.
  assert.ok(end.taut_store_record < end.taut_journal_record - first.took.length, 'the store was stopped');
  const took_ms = median([...first.took, ...second.took]);
  assert.ok(took_ms < 5 * usual_ms, `half of the messages took ${took_ms} ms, ${usual_ms} ms before`);
  assert.ok(end.taut_pool_bytes_in_use < 2 * middle.taut_pool_bytes_in_use, 'memory does not grow with the time');
  const page = await chat.v.ask({ type: 'history', conversation: chat.c, before: 10 });
  assert.ok(page.type === 'error' && page.retryable, JSON.stringify(page));
  return second.last;
}

/** `stop` keeps the store from working and resolves to what ends that. */
async function goes_on_without_its_store(server, stop) {
  const chat = await talk(server);
  const { v, c } = chat;
  await say_many(v, c, 0, 3 * kKept);
  await caught_up(server);
  const before = await talk_for(chat, kStoppedMs / 2);
  const start = await stop();
  let last;
  try {
    last = await talks_on(server, chat, median(before.took));
  } finally {
    await start();
  }
  await caught_up(server);
  assert.deepEqual((await whole_history(v, c)).map((item) => item.seq), up_to(last.seq));
}

for (const [fault, begin, end] of [['killed', 'kill', 'start'], ['stalled', 'pause', 'resume']]) {
  postgres_scenario(`PostgreSQL ${fault}: pushes go on, and it catches up`, kFlags, (server, postgres) =>
    goes_on_without_its_store(server, async () => {
      await postgres[begin]();
      return () => postgres[end]();
    }));
}

/** As a program that copies the file does. */
async function lock_sqlite(path) {
  const lock = 'import sqlite3, sys; file = sqlite3.connect(sys.argv[1], isolation_level=None); file.execute("BEGIN IMMEDIATE"); print(flush=True); sys.stdin.read()';
  const holder = spawn('python3', ['-c', lock, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  await within(Promise.race([once(holder.stdout, 'data'), ended]), 'the lock');
  assert.equal(holder.exitCode, null, 'python3 holds the lock');
  return async () => {
    holder.stdin.end();
    await ended;
  };
}

scenario('SQLite locked by another program: pushes go on, and it catches up', kFlags, (server) =>
  goes_on_without_its_store(server, () => lock_sqlite(join(server.data, 'history.db'))));
