// A visitor who is forgotten: out of memory, out of the history and out of every file, also across kill -9 and while the store is down.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metrics } from './chatter.mjs';
import { agent, is_durable, open, talk, visitor } from './peer.mjs';
import { postgres_scenario } from './postgres.mjs';
import { admin_scenario_on_shards, scenario, within } from './server.mjs';

const kSecret = 'zqjxvw'; // in everything that the visitor says, and nowhere else
const kFlags = ['--rate-visitor', 0, '--rate-agent', 0];

const forget = async (server, id) => {
  const response = await server.api(`/v1/visitors/${id}`, { method: 'DELETE' });
  assert.ok([200, 202].includes(response.status), `${response.status} ${await response.clone().text()}`);
  return response.json();
};

/** Those of the server's files in which the bytes are. */
function files_with(server, text) {
  const folders = [server.data, join(server.data, 'journal')].filter(existsSync);
  const paths = folders.flatMap((folder) => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name)));
  return paths.filter((path) => readFileSync(path).includes(text));
}

async function nothing_left(server) {
  const look = async () => {
    for (;;) {
      const now = await metrics(server);
      if (now.taut_journal_forgetting === 0 && !now.taut_store_wiping && files_with(server, kSecret).length === 0) return;
      await sleep(100);
    }
  };
  await within(look(), () => `${kSecret} to leave ${files_with(server, kSecret)}`);
}

const exported = async (server, id) => (await server.api(`/v1/visitors/${id}/export`)).text();

async function say(peer, c, count) {
  let ack;
  for (let i = 0; i < count; i++) ack = await peer.send(c, `${kSecret} ${i}`);
  await peer.take(is_durable(ack.ref));
}

/** Somebody else, of whom everything must stay. */
async function bystander(server) {
  const v = await visitor(server, 'bystander');
  const c = await open(v, 'support');
  const ack = await v.send(c, 'keep this');
  await v.take(is_durable(ack.ref));
  return { c, last: ack.seq };
}

async function bystander_is_there(server, { c, last }) {
  const v = await visitor(server, 'bystander', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
  await v.take('resumed');
  assert.equal(v.items(c).filter((item) => item.text === 'keep this').length, 1);
  assert.ok(v.items(c).at(-1).seq >= last);
  const look = async () => {
    while (!(await exported(server, 'bystander')).includes('keep this')) await sleep(50);
  };
  await within(look(), 'the history of somebody else');
}

admin_scenario_on_shards('a forgotten visitor is gone from memory, history and every file', kFlags, async (server) => {
  const { a, v, c } = await talk(server);
  const closed = await open(v, 'support');
  await say(v, closed, 5);
  await v.get('ok', { type: 'close', conversation: closed });
  await say(v, c, 20);
  const other = await bystander(server);
  assert.ok(files_with(server, kSecret).length > 0, 'it is what is looked for');

  const receipt = await forget(server, 'v1');
  assert.equal(receipt.visitor, 'v1');
  assert.equal(receipt.memory.conversations, 2);
  assert.ok(receipt.memory.items >= 25, JSON.stringify(receipt));
  if (!receipt.pending.includes('history')) assert.equal(receipt.history.conversations, 2);
  assert.ok(receipt.pending.includes('journal'));

  for (const peer of [a, v]) assert.equal((await peer.take((f) => f.event === 'closed' && f.conversation === c)).reason, 'forgotten');
  await a.take((f) => f.type === 'unassigned' && f.conversation === c);
  await v.refused('no_such_conversation', { type: 'send', conversation: c, client_msg_id: 'late', text: 'late' });
  await v.refused('no_such_conversation', { type: 'history', conversation: c });
  assert.equal((await a.ask({ type: 'history', conversation: c })).code, 'no_such_conversation');
  await nothing_left(server);
  assert.equal(await exported(server, 'v1'), '');

  // Once more finds nothing, and what comes later is kept.
  const again = await forget(server, 'v1');
  assert.deepEqual(again.memory, { conversations: 0, items: 0 });
  const later = await open(v, 'sales');
  const ack = await v.send(later, 'a new beginning');
  await v.take(is_durable(ack.ref));
  await server.crash();
  await (await visitor(server, 'v1', { resume: [{ conversation: later, epoch: 1, seq: 0 }] })).take('resumed');
  const gone = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
  assert.equal((await gone.take('gap')).reason, 'no_such_conversation');
  await bystander_is_there(server, other);
});

scenario('who may have a visitor forgotten, and whom', kFlags, async (server) => {
  const status = async (path, options = {}) => (await server.api(path, { method: 'DELETE', ...options })).status;
  assert.equal(await status('/v1/visitors/v1', { headers: {} }), 401);
  assert.equal(await status('/v1/visitors/v1', { headers: { authorization: 'Bearer no' } }), 401);
  assert.equal(await status('/v1/visitors/no%20good'), 404);
  assert.equal(await status('/v1/visitors/'), 405);
  assert.equal(await status('/v1/visitors/v1/export'), 405);
  assert.deepEqual((await forget(server, 'stranger')).memory, { conversations: 0, items: 0 });
}, { admin: true });

scenario('without a journal it is over at once', ['--data', '', ...kFlags], async (server) => {
  const { a, v } = await talk(server);
  const receipt = await forget(server, 'v1');
  assert.equal(receipt.memory.conversations, 1);
  assert.deepEqual(receipt.pending, []);
  await a.take('unassigned');
  await v.alive();
}, { admin: true });

for (const store of ['sqlite', 'none']) {
  scenario(`kill -9 right after the receipt, store ${store}: it is finished after the start`, [...kFlags, '--store', store], async (server) => {
    const { v, c } = await talk(server);
    await say(v, c, 50);
    for (let i = 0; i < 3; i++) {
      await forget(server, 'v1');
      await server.crash();
    }
    await nothing_left(server);
    const back = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: 0 }] });
    assert.equal((await back.take('gap')).reason, 'no_such_conversation');
  }, { admin: true });
}

postgres_scenario('with PostgreSQL down it is accepted, and finished when that is back, also after kill -9', kFlags, async (server, postgres) => {
  const { v, c } = await talk(server);
  await say(v, c, 50);
  const other = await bystander(server);
  const look = async () => {
    while (!(await exported(server, 'v1')).includes(`${kSecret} 49`)) await sleep(50);
  };
  await within(look(), 'the history');
  await postgres.kill();
  const receipt = await forget(server, 'v1');
  assert.equal(receipt.memory.conversations, 1);
  assert.ok(receipt.pending.includes('history'), JSON.stringify(receipt));
  await server.crash();
  assert.ok((await forget(server, 'v1')).pending.includes('history'));
  await postgres.start();
  await nothing_left(server);
  await within((async () => {
    while ((await exported(server, 'v1')) !== '') await sleep(50);
  })(), 'the rows to go');
  await bystander_is_there(server, other);
}, { admin: true });
