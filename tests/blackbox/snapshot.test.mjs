// A journal that is kept short: what left its files is in a snapshot, and a server that starts from it is as it was.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { is_durable, open, talk, up_to, visitor } from './peer.mjs';
import { kBinary, scenario, within } from './server.mjs';

const kSegmentBytes = 4 << 20;
const kText = 'x'.repeat(8_000);

const files = (server) => readdirSync(join(server.data, 'journal'));

/** Sends so many messages that some files of the journal are full; returns the last ack. */
async function fill(v, c, from, count) {
  let last;
  for (let i = from; i < from + count; i += 20) {
    const sent = [];
    for (let j = i; j < i + 20; j++) sent.push(v.get('ack', { type: 'send', conversation: c, client_msg_id: `m${j}`, text: kText }));
    last = (await Promise.all(sent)).at(-1);
  }
  await v.take(is_durable(last.ref));
  return last;
}

async function snapshot_beyond(server, count) {
  const look = async () => {
    while ((server.stderr.match(/a snapshot of \d+ bytes stands for/g) ?? []).length < count) await sleep(50);
  };
  await within(look(), () => `snapshot ${count} in ${server.stderr}`);
}

scenario('files of the journal that a snapshot covers go, and kill -9 loses nothing', ['--journal-segment-bytes', kSegmentBytes, '--history-items', 100, '--rate-visitor', 0], async (server) => {
  const { a, v, c } = await talk(server);
  const waiting = await open(await visitor(server, 'v2'), 'support');
  await v.get('ack', { type: 'send', conversation: c, client_msg_id: 'first', text: 'first of all' });
  let last;
  for (let round = 0; round < 3; round++) {
    last = await fill(v, c, round * 1_000, 1_000);
    await snapshot_beyond(server, round === 0 ? 1 : 2);
  }
  const gone = async () => {
    while (files(server).includes('journal-0000000000000001.log')) await sleep(50);
  };
  await within(gone(), () => `the first file to go of ${files(server)}`); // the history has it, too
  assert.equal(files(server).filter((name) => name.startsWith('snapshot-')).length, 1, `${files(server)}`);
  a.say({ type: 'read', conversation: c, seq: last.seq });
  await v.take((f) => f.type === 'receipt' && f.seq === last.seq);

  for (const begin_again of ['crash', 'restart', 'crash']) {
    await server[begin_again]();
    const v1 = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: last.seq - 5 }] });
    await v1.take('resumed');
    assert.deepEqual(v1.seqs(c).slice(0, 5), up_to(last.seq).slice(-5));
    // The first message has left memory long ago, and is known all the same.
    const again = await v1.get('ack', { type: 'send', conversation: c, client_msg_id: 'm2999', text: kText });
    assert.equal(again.dup, true);
    await v1.refused('id_conflict', { type: 'send', conversation: c, client_msg_id: 'm10', text: 'another' });
    const v2 = await visitor(server, 'v2', { resume: [{ conversation: waiting, epoch: 1, seq: 0 }] });
    await v2.take('resumed');
    assert.equal(v2.items(waiting)[0].event, 'opened');
    await server.logged(/a snapshot stood for the records up to \d+/);
  }

  for (const peer of server.peers.splice(0)) peer.drop();
  await server.stop();
  const journal = (command) => execFileSync(kBinary, ['journal', command, server.data], { encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.match(journal('check'), /^\d+ records in \d+ segments?, stopped cleanly\n.*snapshot-\d{16}\.log: whole, stands for the records up to \d+\n$/);
  const sequences = journal('dump').trimEnd().split('\n').map((line) => JSON.parse(line).sequence);
  assert.ok(sequences[0] > 1, 'those before are gone');
  assert.deepEqual(sequences, sequences.map((_, i) => sequences[0] + i));
  assert.match(journal('repair'), /^nothing is damaged/);
  await server.start_again();
});
