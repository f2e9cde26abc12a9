// What scenarios about history share: many messages, everything that was said, and a store that has caught up.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { metrics } from './chatter.mjs';
import { is_durable } from './peer.mjs';
import { within } from './server.mjs';

/** Sends messages number from … to - 1; returns the last ack. */
export async function say_many(v, c, from, to) {
  let last;
  for (let i = from; i < to; i += 50) {
    const sent = [];
    for (let j = i; j < Math.min(i + 50, to); j++) sent.push(v.get('ack', { type: 'send', conversation: c, client_msg_id: `m${j}`, text: `text ${j}` }));
    last = (await Promise.all(sent)).at(-1);
  }
  await v.take(is_durable(last.ref));
  return last;
}

/** All pages of a history from its end to its beginning, as one list; a page that the store has not got yet is asked for again. */
export async function whole_history(peer, conversation, limit = 200) {
  let items = [];
  for (;;) {
    const before = items[0]?.seq;
    const page = await peer.ask({ type: 'history', conversation, limit, ...(before && { before }) });
    if (page.type === 'error' && page.retryable) {
      await sleep(50);
      continue;
    }
    assert.equal(page.type, 'history', JSON.stringify(page));
    items = [...page.items, ...items];
    if (!page.more) return items;
    assert.ok(page.items.length > 0, 'a page that promises more has something');
  }
}

/** Waits until the store has all that is durable. */
export async function caught_up(server) {
  const look = async () => {
    for (;;) {
      const now = await metrics(server);
      if (now.taut_store_record >= now.taut_journal_record && now.taut_store_failing === 0) return now;
      await sleep(50);
    }
  };
  return within(look(), 'the store to catch up');
}
