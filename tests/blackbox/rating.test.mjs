// What a visitor says of a conversation that is over.
import assert from 'node:assert/strict';
import { metrics } from './chatter.mjs';
import { open, talk, visitor } from './peer.mjs';
import { scenario_on_shards } from './server.mjs';

const is_rated = (c) => (f) => f.type === 'event' && f.event === 'rated' && f.conversation === c;

scenario_on_shards('a closed conversation is rated once, and all windows of its visitor see it', [], async (server) => {
  const { a, v, c } = await talk(server);
  const second = await visitor(server, 'v1');
  await v.refused('forbidden', { type: 'rate', conversation: c, rating: 5 });
  await a.get('ok', { type: 'close', conversation: c });
  await v.take((f) => f.event === 'closed');
  await v.get('ok', { type: 'rate', conversation: c, rating: 4, text: 'quick & "kind" <b>' });
  for (const peer of [v, second]) {
    const { rating, text, agent: who, group, seq } = await peer.take(is_rated(c));
    assert.deepEqual([rating, text, who, group], [4, 'quick & "kind" <b>', 'a1', 'sales']);
    assert.equal(seq, peer.seqs(c).at(-1));
  }
  await v.get('ok', { type: 'rate', conversation: c, rating: 1 }); // as after a lost answer
  await v.alive();
  assert.equal(v.frames.filter(is_rated(c)).length, 1, 'the first one counts');
  const { items } = await a.get('history', { type: 'history', conversation: c });
  assert.deepEqual([items.at(-1).event, items.at(-1).rating], ['rated', 4]);
  const counted = await metrics(server);
  assert.deepEqual([counted.taut_ratings_total, counted.taut_rating_points_total], [1, 4]);
});

scenario_on_shards('a rating is asked of the visitor alone, of its own, and within its limits', [], async (server) => {
  const { a, v, c } = await talk(server);
  await v.get('ok', { type: 'close', conversation: c });
  await a.refused('forbidden', { type: 'rate', conversation: c, rating: 5 });
  await (await visitor(server, 'v2')).refused('no_such_conversation', { type: 'rate', conversation: c, rating: 5 });
  for (const rating of [0, 6, 2.5, '5', null]) await v.refused('bad_field', { type: 'rate', conversation: c, rating });
  await v.refused('bad_field', { type: 'rate', conversation: c, rating: 5, text: 'x'.repeat(4097) });
  await v.get('ok', { type: 'rate', conversation: c, rating: 5, text: 'x'.repeat(4096) });
});

scenario_on_shards('a rating outlives a reconnect, and a new opening has one of its own', [], async (server) => {
  const { v, c } = await talk(server);
  await v.get('ok', { type: 'close', conversation: c });
  await v.get('ok', { type: 'rate', conversation: c, rating: 2 });
  const { seq } = await v.take(is_rated(c));
  v.drop();
  const back = await visitor(server, 'v1', { resume: [{ conversation: c, epoch: 1, seq: seq - 1 }] });
  assert.equal((await back.take(is_rated(c))).rating, 2);
  await back.get('opened', { type: 'open', conversation: c });
  await back.refused('forbidden', { type: 'rate', conversation: c, rating: 5 });
  await back.get('ok', { type: 'close', conversation: c });
  await back.get('ok', { type: 'rate', conversation: c, rating: 5 });
  assert.equal((await back.take((f) => is_rated(c)(f) && f.seq > seq)).rating, 5);
});

scenario_on_shards('nobody is named where nobody had it', [], async (server) => {
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await v.get('ok', { type: 'close', conversation: c });
  await v.get('ok', { type: 'rate', conversation: c, rating: 1 });
  assert.equal((await v.take(is_rated(c))).agent, undefined);
});
