// One who does not read, and one who floods: what they do to themselves, and not to others.
import assert from 'node:assert/strict';
import { open, talk, up_to, visitor } from './peer.mjs';
import { scenario_on_shards, within } from './server.mjs';

const kNoRates = ['--rate-visitor', '0/0', '--rate-agent', '0/0'];

// Elsewhere one client that stopped reading blocked the others. The stalled reader is closed, everybody else gets everything meanwhile, and the resume brings what was missed.
scenario_on_shards('one who stops reading is closed with 4103 and delays nobody', [...kNoRates, '--soft-limit-bytes', '32768', '--hard-limit-bytes', '65536', '--history-items', '2048'], async (server) => {
  const kPairs = 6;
  const kTexts = 60;
  const stalled = await talk(server, { visitor_id: 'stalled', agent_id: 'a-stalled' });
  await stalled.a.get('ok', { type: 'presence', status: 'busy' });
  const pairs = [];
  for (const i of up_to(kPairs)) {
    const pair = await talk(server, { visitor_id: `v${i}`, agent_id: `a${i}` });
    await pair.a.get('ok', { type: 'presence', status: 'busy' });
    pairs.push(pair);
  }
  stalled.v.pause();
  const text = 'x'.repeat(16_000);
  let sent = 0;
  const flood = async () => {
    // Far more than a socket holds: the kernel's buffers on both sides fill first, then the server's limit is met.
    for (; sent < 1500 && !flood.stop; sent++) await stalled.a.send(stalled.c, text);
  };
  const flooding = flood();
  const others = pairs.map(async ({ a, v, c, seq }) => {
    for (let i = 0; i < kTexts; i++) {
      const { seq: number } = await v.send(c, `question ${i}`);
      await a.item(c, number);
    }
    assert.deepEqual(a.seqs(c).filter((s) => s > seq), up_to(seq + kTexts, seq + 1));
  });
  await within(Promise.all(others), 'the messages of the others while one stalls');
  await within(flooding, 'the flood');
  stalled.v.resume();
  const { code } = await stalled.v.end();
  assert.equal(code, 4103);
  const got = stalled.v.seqs(stalled.c);
  const last = got.at(-1);
  assert.deepEqual(got, up_to(last, got[0]), 'what arrived has no hole');
  assert.ok(last < stalled.seq + sent, 'not everything fitted');
  const back = await visitor(server, 'stalled', { resume: [{ conversation: stalled.c, epoch: 1, seq: last }] });
  const first_missed = back.until(() => back.items(stalled.c).length > 0, 'the missed items');
  await first_missed;
  assert.equal(back.seqs(stalled.c)[0], last + 1);
});

// Elsewhere limits hit a whole office behind one address, and did not stop a flood. Limits are of an identity, never of an address.
scenario_on_shards('200 visitors behind one address pass and a flooder is rate_limited', ['--rate-visitor', '20/40'], async (server) => {
  const visitors = await Promise.all(up_to(200).map((i) => visitor(server, `v${i}`)));
  const conversations = await Promise.all(visitors.map((v) => open(v)));
  const flooder = await visitor(server, 'flooder');
  const flooded = await open(flooder);
  const flood = up_to(300).map((i) => flooder.ask({ type: 'send', conversation: flooded, client_msg_id: `f${i}`, text: 'x' }));
  const passed = visitors.map(async (v, i) => {
    for (const n of up_to(5)) assert.equal((await v.send(conversations[i], `text ${n}`)).seq, n + 1);
  });
  await Promise.all(passed);
  const answers = await Promise.all(flood);
  const accepted = answers.filter((f) => f.type === 'ack');
  const limited = answers.filter((f) => f.code === 'rate_limited');
  assert.equal(accepted.length + limited.length, 300);
  assert.ok(accepted.length >= 30, `${accepted.length} accepted: the burst is allowed`);
  assert.ok(limited.length > 0, 'the flood is not');
  for (const { retryable, retry_after_ms } of limited) assert.ok(retryable && retry_after_ms > 0);
  assert.deepEqual(accepted.map((f) => f.seq), up_to(accepted.length + 1, 2), 'a refused send takes no number');
  await flooder.alive();
  await new Promise((resolve) => setTimeout(resolve, limited.at(-1).retry_after_ms + 200));
  await flooder.send(flooded, 'slowly now');
});
