// A pool that is full, of history and of output that nobody reads: the server refuses, closes, goes on, and forgets nothing silently.
import assert from 'node:assert/strict';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { scenario_on_shards, within } from './server.mjs';

const kNoRates = ['--rate-visitor', '0/0', '--rate-agent', '0/0'];
const kSmallPool = ['--pool-base-bytes', '16MiB', '--pool-bytes-max', '64MiB'];
const kPatientWithSlowReaders = ['--soft-limit-bytes', '512MiB', '--hard-limit-bytes', '900MiB', '--slow-reader-ms', '1h'];

const metrics_of = async (server) => (await within(fetch(`${server.http}/metrics`), 'the metrics')).text();
const value_of = (metrics, name) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)[1]);

scenario_on_shards(
  'with its pool exhausted by those who do not read, it goes on assigning, requeuing and closing',
  [...kNoRates, ...kSmallPool, ...kPatientWithSlowReaders, '--accept-ms', '200', '--max-text-bytes', '16384'],
  async (server) => {
    const kTexts = 60;
    const hoarders = [];
    for (const i of up_to(24)) {
      const v = await visitor(server, `hoarder${i}`);
      const c = await open(v);
      for (const n of up_to(kTexts)) {
        const answer = await v.ask({ type: 'send', conversation: c, client_msg_id: `m${n}`, text: 'x'.repeat(2000) });
        if (answer.type === 'error') assert.equal(answer.code, 'overloaded');
      }
      hoarders.push({ v, c });
    }
    const waiting = await Promise.all(up_to(8).map((i) => visitor(server, `v${i}`)));
    const conversations = await Promise.all(waiting.map((v) => open(v)));
    // History pages of 128 KiB that nobody reads, far more than the pools hold.
    for (const { v, c } of hoarders) {
      v.pause();
      for (let n = 0; n < 250; n++) v.say({ type: 'history', ref: 10_000 + n, conversation: c, limit: 200 });
    }
    const exhausted = async () => value_of(await metrics_of(server), 'taut_pool_refused_total') > 50;
    for (let i = 0; i < 200 && !(await exhausted()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(await exhausted(), 'the pools refuse');
    // Agents who accept nothing, come and go: assigned, timed out, held, requeued, offline.
    for (const round of up_to(5)) {
      for (const i of up_to(4)) {
        try {
          const a = await agent(server, `a${round}-${i}`, { claims: { capacity: 10 } });
          await a.ask({ type: 'presence', status: 'online' });
        } catch {
          // turned away for lack of memory
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.equal((await within(fetch(`${server.http}/healthz`), 'health')).status, 200);
    for (const { v } of hoarders) v.drop();
    // There is room again: nobody has lost anything that was accepted, or is told of the gap.
    const freed = async () => value_of(await metrics_of(server), 'taut_pool_overdrawn_bytes') < 1 << 20;
    for (let i = 0; i < 200 && !(await freed()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const [i, c] of conversations.entries()) {
      waiting[i].drop();
      const back = await visitor(server, `v${i + 1}`, { resume: [{ conversation: c, epoch: 0, seq: 0 }] });
      const { seq } = await back.take((f) => f.type === 'resumed' && f.conversation === c, 'resumed');
      const gap = back.frames.find((f) => f.type === 'gap' && f.conversation === c);
      assert.deepEqual(back.seqs(c).filter((s) => s <= seq), up_to(seq, gap ? gap.to + 1 : 1));
      assert.ok(seq > 1, 'it was assigned meanwhile');
    }
  },
);

// Elsewhere buffers stayed allocated after a burst. That the memory itself goes back to the kernel after a quiet minute is a test of the pool's;
// that a reader who was closed skips nothing stands in pressure.test.mjs.
scenario_on_shards(
  'what was held for one who reads slowly comes back, and nothing of it is missing',
  [...kNoRates, '--soft-limit-bytes', '64MiB', '--hard-limit-bytes', '96MiB', '--slow-reader-ms', '1h', '--history-items', '10'],
  async (server) => {
    const { a, v, c, seq } = await talk(server);
    const in_use = async () => value_of(await metrics_of(server), 'taut_pool_bytes_in_use');
    const before = await in_use();
    const kTexts = 1_500;
    v.pause();
    for (const n of up_to(kTexts)) await a.send(c, `${n} ${'x'.repeat(16_000)}`);
    assert.ok((await in_use()) > before + (12 << 20), 'the burst is held');
    v.resume();
    await v.item(c, seq + kTexts);
    assert.deepEqual(v.seqs(c), up_to(seq + kTexts, v.seqs(c)[0]));
    const given_back = async () => (await in_use()) < before + (1 << 20);
    for (let i = 0; i < 200 && !(await given_back()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(await given_back());
  },
);
