// kill -9 under load, with clients that resend what was not acknowledged and resume: nothing that was acknowledged as durable is lost,
// nothing comes twice, no number is missing, for nobody. TAUT_KILLS (20) says how often.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { TautClient } from '../../web/taut-client.mjs';
import { kSlowness, scenario, websocket_only, within } from './server.mjs';

const kKills = Number(process.env.TAUT_KILLS ?? 20);
const kPairs = 4;
const kPauseMs = 10; // so that no more is said while somebody is away than the server keeps
const kInFlight = 4; // sends of one side that are not durable yet

/** Somebody who talks without a pause, and keeps what the client shows, by number. */
class Talker {
  items = new Map(); // seq → item
  durable = []; // acks
  #talking = [];
  #stopped = false;

  constructor(server, role, id) {
    this.id = id;
    this.client = new TautClient({
      url: server.url,
      role,
      site: 'demo',
      token: server.token(role, id),
      WebSocket,
      limits: { backoff_base_ms: 30, backoff_max_ms: 100 * kSlowness },
    });
    this.client.addEventListener('item', ({ detail }) => this.#on_item(detail));
    this.client.addEventListener('gap', ({ detail }) => this.#on_gap(detail));
    this.client.start();
  }

  #on_item(item) {
    assert.ok(!this.items.has(item.seq), `${this.id} is shown ${item.seq} twice`);
    this.items.set(item.seq, item);
  }

  #on_gap({ from, to, reason }) {
    assert.equal(reason, 'ahead', `${this.id} misses ${from} to ${to}`);
    for (let seq = from; seq <= to; seq++) this.items.delete(seq);
  }

  talk(conversation) {
    const one = async (line) => {
      for (let i = 0; !this.#stopped; i++) {
        const client_msg_id = `${this.id}-${line}-${i}`;
        const ack = await this.client.send(conversation, `text ${client_msg_id}`, { client_msg_id, level: 'durable' });
        assert.equal(ack.level, 'durable');
        this.durable.push(ack);
        await sleep(kPauseMs);
      }
    };
    this.#talking = Array.from({ length: kInFlight }, (_, line) => one(line));
  }

  /** When everything that was said is durable. */
  async finish() {
    this.#stopped = true;
    await Promise.all(this.#talking);
  }

  last() {
    return Math.max(...this.items.keys());
  }
}

function assert_whole(talker, other) {
  const numbers = [...talker.items.keys()].sort((a, b) => a - b);
  assert.deepEqual(numbers, numbers.map((_, i) => numbers[0] + i), `${talker.id} sees every number once`);
  const ids = [...talker.items.values()].map((item) => item.client_msg_id).filter((id) => id !== undefined);
  assert.equal(new Set(ids).size, ids.length, `${talker.id} sees no message twice`);
  for (const { client_msg_id, seq } of [...talker.durable, ...other.durable])
    assert.equal(talker.items.get(seq)?.client_msg_id, client_msg_id, `durable message ${client_msg_id} at ${seq}, as ${talker.id} sees it`);
}

websocket_only(scenario)(`kill -9 under load, ${kKills} times, loses nothing that was durable`, ['--group', 'sales', '--agent-grace-ms', 60_000, '--rate-visitor', '0', '--rate-agent', '0'], async (server, t) => {
  const agents = Array.from({ length: kPairs }, (_, i) => new Talker(server, 'agent', `a${i}`));
  const visitors = Array.from({ length: kPairs }, (_, i) => new Talker(server, 'visitor', `v${i}`));
  const pairs = [];
  for (const [i, agent] of agents.entries()) {
    const assigned = new Promise((resolve) => agent.client.addEventListener('assigned', ({ detail }) => resolve(detail.conversation), { once: true }));
    await agent.client.presence('online', { capacity: 1 });
    const { conversation } = await visitors[i].client.open({ group: 'sales' });
    assert.equal(await within(assigned, 'the assignment'), conversation);
    await agent.client.accept(conversation);
    pairs.push([visitors[i], agent, conversation]);
  }
  for (const [visitor, agent, conversation] of pairs) for (const side of [visitor, agent]) side.talk(conversation);
  for (let kill = 0; kill < kKills; kill++) {
    await sleep((50 + Math.random() * 250) * kSlowness);
    await server.crash();
  }
  await sleep(200 * kSlowness);
  for (const [visitor, agent] of pairs) await within(Promise.all([visitor.finish(), agent.finish()]), 'the last durable acks', 60_000 * kSlowness);
  for (const [visitor, agent] of pairs) {
    await within(until(() => visitor.last() === agent.last()), () => `the same end: ${visitor.last()}, ${agent.last()}`);
    assert_whole(visitor, agent);
    assert_whole(agent, visitor);
  }
  const durable = [...agents, ...visitors].reduce((sum, talker) => sum + talker.durable.length, 0);
  assert.ok(durable > kKills * kPairs, `${durable} durable messages are a test`);
  t.diagnostic(`${durable} durable messages, ${kKills} kills`);
  for (const { client } of [...agents, ...visitors]) client.stop();
});

async function until(condition) {
  while (!condition()) await sleep(20);
}
