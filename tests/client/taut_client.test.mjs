// What the client promises to an application, against a scripted server under a clock that the test moves.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TautClient, on_close_code, retry_after_ms } from '../../web/taut-client.mjs';
import { FakeClock, FakeNetwork, settle } from './fake_socket.mjs';

/** A started client on a fake network, with everything it told the application in `told`. */
async function start(options = {}) {
  const clock = new FakeClock();
  const network = new FakeNetwork();
  const client = new TautClient({
    url: 'ws://test/v1/chat',
    role: 'visitor',
    site: 'demo',
    token: 'secret',
    device: 'd1',
    WebSocket: network.WebSocket,
    clock,
    random: () => 0.5,
    ...options,
  });
  const told = [];
  for (const type of ['state', 'item', 'gap', 'resumed', 'assigned', 'unassigned', 'queue', 'failure', 'typing']) {
    client.addEventListener(type, ({ detail }) => told.push({ ...detail, told: type }));
  }
  client.start();
  await settle();
  const seqs = () => told.filter((t) => t.told === 'item').map((t) => t.seq);
  const of = (type) => told.filter((t) => t.told === type);
  return { client, clock, network, told, seqs, of };
}

const message = (seq, fields = {}) => ({
  type: 'message',
  conversation: 'c1',
  epoch: 1,
  seq,
  from: { kind: 'agent', id: 'a1' },
  client_msg_id: `m${seq}`,
  kind: 'text',
  text: `text ${seq}`,
  ts: 1000 + seq,
  ...fields,
});

/** Welcomes the client and answers an open() with conversation c1 at seq 1. */
async function open_c1({ client, network }, welcome = {}) {
  network.last.welcome(welcome);
  const opening = client.open({ group: 'sales' });
  const { ref } = network.last.of('open')[0];
  network.last.push({ type: 'opened', ref, conversation: 'c1', epoch: 1, seq: 1, state: 'queued', position: 1 });
  return opening;
}

const ack = (socket, seq, fields = {}) => {
  const { ref, client_msg_id } = socket.of('send').at(-1);
  socket.push({ type: 'ack', ref, conversation: 'c1', client_msg_id, epoch: 1, seq, ts: 7, level: 'accepted', ...fields });
};

describe('hello', () => {
  test('needs neither CustomEvent nor a global crypto, which Node 18 lacks', async () => {
    const kept = ['CustomEvent', 'crypto'].map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
    for (const [name] of kept) Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
    try {
      const one = await start();
      await open_c1(one);
      assert.equal(one.of('state').at(-1).state, 'connected');
      for (const text of ['a', 'b']) one.client.send('c1', text).catch(() => {});
      const ids = one.network.last.of('send').map((s) => s.client_msg_id);
      assert.equal(new Set(ids).size, 2);
      for (const id of ids) assert.match(id, /^[0-9a-f]{24}$/);
      one.client.stop();
    } finally {
      for (const [name, descriptor] of kept) if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    }
  });

  test('says who it is, under the sub-protocol of the chat', async () => {
    const { network } = await start({ name: 'Vera' });
    const hello = network.last.open();
    assert.deepEqual(network.last.protocols, ['taut.v1.json']);
    assert.deepEqual(hello, { type: 'hello', version: 1, role: 'visitor', site: 'demo', token: 'secret', device: 'd1', name: 'Vera', resume: [] });
  });

  test('asks a token function anew for each connection', async () => {
    let asked = 0;
    const { network, clock } = await start({ token: async () => `t${++asked}` });
    assert.equal(network.last.open().token, 't1');
    network.last.drop(4105);
    await clock.advance(1000);
    assert.equal(network.sockets[1].open().token, 't2');
  });

  test('tries again when the token cannot be had', async () => {
    let asked = 0;
    const token = async () => {
      if (++asked === 1) throw new Error('offline');
      return 't';
    };
    const { network, clock, of } = await start({ token });
    assert.equal(network.sockets.length, 0);
    assert.equal(of('state').at(-1).state, 'waiting');
    await clock.advance(1000);
    assert.equal(network.sockets.length, 1);
  });

  test('gives up a connection that brings no welcome', async () => {
    const { network, clock } = await start();
    network.last.open();
    await clock.advance(10_000);
    assert.equal(network.sockets[0].closed_with, 3000);
    await clock.advance(1000);
    assert.equal(network.sockets.length, 2);
  });

  test('resumes from the cursors of an earlier client', async () => {
    const { network } = await start({ cursors: [{ conversation: 'c1', epoch: 2, seq: 9 }] });
    assert.deepEqual(network.last.open().resume, [{ conversation: 'c1', epoch: 2, seq: 9 }]);
  });

  test('names no more conversations than its limit, the newest', async () => {
    const cursors = ['c1', 'c2', 'c3'].map((conversation) => ({ conversation, epoch: 1, seq: 1 }));
    const { network } = await start({ cursors, limits: { resume_max: 2 } });
    assert.deepEqual(
      network.last.open().resume.map((r) => r.conversation),
      ['c2', 'c3'],
    );
  });
});

describe('close codes', () => {
  test('are told apart', () => {
    for (const code of [1000, 4001, 4003, 4004, 4010, 4011]) assert.equal(on_close_code(code), 'stop', code);
    for (const code of [1006, 1011, 4101, 4102, 4103, 4104, 4105]) assert.equal(on_close_code(code), 'wait', code);
    assert.equal(on_close_code(4200), 'at_once');
  });

  test('carry the time to wait in their reason', () => {
    assert.equal(retry_after_ms('overloaded retry_after_ms=1500'), 1500);
    assert.equal(retry_after_ms('retry_after_ms=20, sorry'), 20);
    assert.equal(retry_after_ms('no_retry_after_ms=20'), 0);
    assert.equal(retry_after_ms(undefined), 0);
  });

  test('of the first kind stop the client for good and fail what waits', async () => {
    const { client, network, clock, of } = await start();
    const sending = client.send('c1', 'never');
    network.last.open();
    network.last.drop(4001, 'bad token');
    await assert.rejects(sending, { code: 'stopped' });
    await clock.advance(3_600_000);
    assert.equal(network.sockets.length, 1);
    assert.deepEqual(of('state').at(-1), { told: 'state', state: 'stopped', code: 4001, reason: 'bad token' });
  });

  test('of an expired token stop a client that cannot renew it', async () => {
    const { network, of } = await start();
    network.last.welcome();
    network.last.drop(4105, 'expired');
    assert.equal(of('state').at(-1).state, 'stopped');
  });

  test('of draining bring the client back at once, but only the first time', async () => {
    const { network, clock, of } = await start();
    network.last.welcome();
    network.last.drop(4200);
    assert.equal(of('state').at(-1).retry_in_ms, 0);
    await clock.advance(0);
    network.last.drop(4200);
    assert.ok(of('state').at(-1).retry_in_ms > 0);
  });

  test('wait at least as long as the server asks', async () => {
    const { network, of } = await start();
    network.last.welcome();
    network.last.drop(4101, 'retry_after_ms=5000');
    assert.equal(of('state').at(-1).retry_in_ms, 5000 + 125);
  });
});

describe('back-off', () => {
  test('doubles its ceiling up to the limit and jitters over all of it', async () => {
    const draws = [0, 0.999, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
    const { network, clock, of } = await start({ random: () => draws.shift() });
    const waits = [];
    for (let i = 0; i < 10; i++) {
      network.last.drop();
      waits.push(of('state').at(-1).retry_in_ms);
      await clock.advance(waits.at(-1));
    }
    assert.deepEqual(waits, [0, 499, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
  });

  test('starts anew after a connection that was stable, and not after one that was not', async () => {
    const { network, clock, of } = await start();
    for (let i = 0; i < 4; i++) {
      network.last.welcome();
      network.last.drop();
      await clock.advance(of('state').at(-1).retry_in_ms);
    }
    assert.equal(of('state').filter((s) => s.state === 'waiting').at(-1).retry_in_ms, 1000);
    network.last.welcome();
    await clock.advance(5_000);
    network.last.drop();
    assert.equal(of('state').at(-1).retry_in_ms, 125);
  });

  test('ends early when woken', async () => {
    const { client, network } = await start();
    network.last.drop();
    client.wake();
    await settle();
    assert.equal(network.sockets.length, 2);
    client.wake();
    await settle();
    assert.equal(network.sockets.length, 2);
  });
});

describe('liveness', () => {
  test('asks after ping_ms of silence and leaves a dead link half of that later', async () => {
    const { network, clock } = await start();
    network.last.welcome({ ping_ms: 1000 });
    await clock.advance(999);
    assert.equal(network.last.of('ping').length, 0);
    await clock.advance(1);
    assert.equal(network.last.of('ping').length, 1);
    await clock.advance(499);
    assert.equal(network.last.closed_with, null);
    await clock.advance(1);
    assert.equal(network.sockets[0].closed_with, 3000);
  });

  test('keeps a quiet link whose server answers', async () => {
    const { network, clock } = await start();
    network.last.welcome({ ping_ms: 1000 });
    for (let i = 1; i <= 20; i++) {
      await clock.advance(1000);
      assert.equal(network.last.of('ping').length, i);
      network.last.push({ type: 'pong', ref: network.last.of('ping').at(-1).ref });
    }
    assert.equal(network.sockets.length, 1);
  });
});

describe('requests', () => {
  test('made before welcome wait for it', async () => {
    const { client, network } = await start();
    const pinging = client.ping();
    network.last.open();
    assert.equal(network.last.of('ping').length, 0);
    network.last.push({ type: 'welcome', id: 'v1', role: 'visitor', mode: 'none', ping_ms: 1000, max_text_bytes: 10, max_inflight: 4 });
    const [{ ref }] = network.last.of('ping');
    network.last.push({ type: 'pong', ref });
    assert.equal((await pinging).type, 'pong');
  });

  test('each get the answer to their own ref', async () => {
    const { client, network } = await start();
    network.last.welcome();
    const first = client.history('c1', { before: 10, limit: 5 });
    const second = client.accept('c2');
    const third = client.close('c3', 'solved');
    const [h] = network.last.of('history');
    const [a] = network.last.of('accept');
    const [c] = network.last.of('close');
    assert.deepEqual({ ...h, ref: 0 }, { type: 'history', ref: 0, conversation: 'c1', before: 10, limit: 5 });
    assert.equal(c.reason, 'solved');
    network.last.push({ type: 'error', ref: a.ref, code: 'taken', message: 'by another', retryable: false });
    network.last.push({ type: 'ok', ref: c.ref });
    network.last.push({ type: 'history', ref: h.ref, conversation: 'c1', items: [], more: false });
    await assert.rejects(second, { code: 'taken', retryable: false });
    assert.equal((await third).type, 'ok');
    assert.equal((await first).more, false);
  });

  test('rate says what the protocol says', async () => {
    const one = await start();
    await open_c1(one);
    one.client.rate('c1', 5, 'kind').catch(() => {});
    assert.deepEqual({ ...one.network.last.of('rate')[0], ref: 0 }, { type: 'rate', ref: 0, conversation: 'c1', rating: 5, text: 'kind' });
    one.client.stop();
  });

  test('of an agent say what the protocol says', async () => {
    const { client, network } = await start({ role: 'agent' });
    network.last.welcome({ role: 'agent', id: 'a1' });
    for (const request of [client.take('c1'), client.transfer('c1', { group: 'support' }), client.list('queued', { cursor: 'x' }), client.replies(), client.block('c1', { seconds: 60 })]) request.catch(() => {});
    const [take, transfer, list, replies, block] = network.last.sent.slice(1).map(({ ref, ...frame }) => frame);
    assert.deepEqual(take, { type: 'take', conversation: 'c1' });
    assert.deepEqual(transfer, { type: 'transfer', conversation: 'c1', to: { group: 'support' } });
    assert.deepEqual(list, { type: 'list', scope: 'queued', cursor: 'x' });
    assert.deepEqual(replies, { type: 'replies' });
    assert.deepEqual(block, { type: 'block', conversation: 'c1', seconds: 60 });
    client.stop();
  });

  test('fail as retryable when the connection breaks before the answer', async () => {
    const { client, network } = await start();
    network.last.welcome();
    const asking = client.presence('online', { capacity: 2 });
    network.last.drop();
    await assert.rejects(asking, { code: 'disconnected', retryable: true });
  });

  test('are bounded, and those that failed make room', async () => {
    const { client, network } = await start({ limits: { requests_max: 1 } });
    network.last.welcome();
    const first = client.ping();
    await assert.rejects(client.ping(), { code: 'outbox_full' });
    network.last.drop();
    await assert.rejects(first, { code: 'disconnected' });
    const second = client.ping();
    client.stop();
    await assert.rejects(second, { code: 'stopped' });
  });

  test('leave an error without ref to the application', async () => {
    const { network, of } = await start();
    network.last.welcome();
    network.last.push({ type: 'error', code: 'bad_json', message: 'x', retryable: false });
    assert.equal(of('failure')[0].code, 'bad_json');
  });
});

describe('signals', () => {
  const ready = async () => {
    const one = await start();
    await open_c1(one);
    for (const seq of [2, 3, 4]) one.network.last.push(message(seq));
    return one;
  };
  const reconnect = async ({ client, network }) => {
    network.last.drop();
    client.wake();
    await settle();
    network.last.welcome();
  };

  test('typing is told once in two seconds, its end at once and once', async () => {
    const { client, clock, network } = await ready();
    client.typing('c1', false); // it never began
    client.typing('c1', true);
    await clock.advance(1999);
    client.typing('c1', true);
    await clock.advance(1);
    client.typing('c1', true);
    client.typing('c1', false);
    client.typing('c1', false);
    assert.deepEqual(network.last.of('typing'), [true, true, false].map((on) => ({ type: 'typing', conversation: 'c1', on })));
  });

  test('typing without a connection is forgotten, and told anew on the next one', async () => {
    const one = await ready();
    one.client.typing('c1', true);
    one.network.last.drop();
    one.client.typing('c1', true);
    one.client.wake();
    await settle();
    one.network.last.welcome();
    assert.equal(one.network.last.of('typing').length, 0);
    one.client.typing('c1', true);
    assert.equal(one.network.last.of('typing').length, 1);
  });

  test('only a higher mark is told, and only of a conversation that is followed', async () => {
    const { client, network } = await ready();
    for (const seq of [3, 3, 2, 4]) client.read('c1', seq);
    client.delivered('c1', 4);
    client.read('c9', 1);
    assert.deepEqual(network.last.of('read').map((f) => f.seq), [3, 4]);
    assert.deepEqual(network.last.of('delivered'), [{ type: 'delivered', conversation: 'c1', seq: 4 }]);
    assert.equal(network.last.of('read').some((f) => f.conversation === 'c9'), false);
  });

  test('a mark made in a broken link is told once it has been resumed', async () => {
    const one = await ready();
    one.client.read('c1', 3);
    one.network.last.drop();
    one.client.read('c1', 4);
    one.client.wake();
    await settle();
    one.network.last.welcome();
    one.client.delivered('c1', 4);
    assert.equal(one.network.last.of('read').length + one.network.last.of('delivered').length, 0);
    one.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 4 });
    assert.equal(one.network.last.of('delivered').length, 1);
    assert.deepEqual(one.network.last.of('read'), [{ type: 'read', conversation: 'c1', seq: 4 }]);
  });

  test('a mark beyond what the server has kept is lowered with the cursor', async () => {
    const one = await ready();
    one.client.read('c1', 4);
    await reconnect(one);
    one.network.last.push({ type: 'gap', conversation: 'c1', epoch: 1, from: 3, to: 4, reason: 'ahead' });
    one.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 2, seq: 2 });
    assert.deepEqual(one.network.last.of('read'), [{ type: 'read', conversation: 'c1', seq: 2 }]);
  });
});

describe('send', () => {
  test('resolves with its ack and gives the application its own item in place', async () => {
    const it = await start();
    await open_c1(it);
    const sending = it.client.send('c1', 'hello', { client_msg_id: 'x1' });
    const { ref, ...sent } = it.network.last.of('send')[0];
    assert.deepEqual(sent, { type: 'send', conversation: 'c1', client_msg_id: 'x1', text: 'hello' });
    it.network.last.push(message(2));
    ack(it.network.last, 3);
    it.network.last.push(message(4));
    assert.equal((await sending).seq, 3);
    assert.deepEqual(it.seqs(), [2, 3, 4]);
    const { told, ...own } = it.of('item')[1];
    assert.deepEqual(own, {
      ...message(3, { from: { kind: 'visitor', id: 'v1', name: undefined }, client_msg_id: 'x1', text: 'hello', ts: 7 }),
      own: true,
    });
  });

  test('is repeated under the same client_msg_id after a reconnect, and counted once', async () => {
    const it = await start();
    await open_c1(it);
    const sending = it.client.send('c1', 'once');
    const first = it.network.last.of('send')[0];
    it.network.last.drop();
    await it.clock.advance(1000);
    it.network.last.welcome();
    assert.equal(it.network.last.of('send').length, 0, 'not before the conversation is resumed');
    it.network.last.push(message(2, { from: { kind: 'visitor', id: 'v1' }, client_msg_id: first.client_msg_id, text: 'once' }));
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 2 });
    const [again] = it.network.last.of('send');
    assert.equal(again.client_msg_id, first.client_msg_id);
    ack(it.network.last, 2, { dup: true });
    assert.equal((await sending).dup, true);
    assert.deepEqual(it.seqs(), [2]);
    assert.equal(it.of('item')[0].own, true);
  });

  test('keeps the order of the outbox across reconnects', async () => {
    const it = await start();
    await open_c1(it);
    for (let i = 0; i < 5; i++) it.client.send('c1', `text ${i}`);
    it.network.last.drop();
    await it.clock.advance(1000);
    it.client.send('c1', 'text 5');
    it.network.last.welcome();
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 1 });
    assert.deepEqual(
      it.network.last.of('send').map((s) => s.text),
      [0, 1, 2, 3, 4, 5].map((i) => `text ${i}`),
    );
  });

  test('learns of a conversation closed meanwhile before it is repeated', async () => {
    const it = await start();
    await open_c1(it);
    const sending = it.client.send('c1', 'too late');
    it.network.last.drop();
    await it.clock.advance(1000);
    it.network.last.welcome();
    it.network.last.push({ type: 'event', event: 'closed', conversation: 'c1', epoch: 1, seq: 2, owner_epoch: 1, ts: 1 });
    assert.equal(it.network.last.of('send').length, 0);
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 2 });
    const { ref } = it.network.last.of('send')[0];
    it.network.last.push({ type: 'error', ref, conversation: 'c1', code: 'closed', message: '', retryable: false });
    await assert.rejects(sending, { code: 'closed' });
  });

  test('is refused by a full outbox and by a text over the limit', async () => {
    const it = await start({ limits: { outbox_max: 1 } });
    await open_c1(it, { max_text_bytes: 4 });
    await assert.rejects(it.client.send('c1', 'ééé'), { code: 'too_large' });
    it.client.send('c1', 'éé');
    await assert.rejects(it.client.send('c1', 'more'), { code: 'outbox_full', retryable: true });
    assert.equal(it.network.last.of('send').length, 1);
  });

  test('keeps to max_inflight', async () => {
    const it = await start();
    await open_c1(it, { max_inflight: 2 });
    for (let i = 0; i < 4; i++) it.client.send('c1', `text ${i}`);
    assert.equal(it.network.last.of('send').length, 2);
    const [first] = it.network.last.of('send');
    it.network.last.push({ ...first, type: 'ack', epoch: 1, seq: 2, ts: 1, level: 'accepted' });
    assert.equal(it.network.last.of('send').length, 3);
  });

  test('waits for the durable ack where it is wanted and there is one', async () => {
    const it = await start();
    await open_c1(it, { mode: 'durable' });
    let level = null;
    const sending = it.client.send('c1', 'keep', { level: 'durable' }).then((a) => (level = a.level));
    ack(it.network.last, 2);
    await settle();
    assert.equal(level, null);
    ack(it.network.last, 2, { level: 'durable' });
    await sending;
    assert.equal(level, 'durable');
    assert.deepEqual(it.seqs(), [2]);
  });

  test('rejects with the error of the server', async () => {
    const it = await start();
    await open_c1(it);
    const sending = it.client.send('c1', 'x');
    const { ref } = it.network.last.of('send')[0];
    it.network.last.push({ type: 'error', ref, code: 'rate_limited', message: 'slow', retryable: true, retry_after_ms: 9 });
    await assert.rejects(sending, { code: 'rate_limited', retryable: true, retry_after_ms: 9 });
  });
});

describe('resume', () => {
  test('asks for what follows the last item given to the application', async () => {
    const it = await start();
    await open_c1(it);
    for (const seq of [2, 3, 4]) it.network.last.push(message(seq));
    it.network.last.drop();
    await it.clock.advance(1000);
    assert.deepEqual(it.network.last.open().resume, [{ conversation: 'c1', epoch: 1, seq: 4 }]);
  });

  test('gives nothing twice, whatever the server repeats', async () => {
    const it = await start();
    await open_c1(it);
    for (const seq of [2, 3, 2, 3, 3, 4]) it.network.last.push(message(seq));
    assert.deepEqual(it.seqs(), [2, 3, 4]);
  });

  test('three reconnects without traffic give nothing and keep the cursor', async () => {
    const it = await start();
    await open_c1(it);
    it.network.last.push(message(2));
    for (let i = 0; i < 3; i++) {
      it.network.last.drop();
      await it.clock.advance(it.of('state').at(-1).retry_in_ms);
      it.network.last.welcome();
      it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 2 });
    }
    assert.deepEqual(it.seqs(), [2]);
    assert.deepEqual(it.client.cursors(), [{ conversation: 'c1', epoch: 1, seq: 2 }]);
  });

  test('after gap ahead takes the numbers again in the new epoch', async () => {
    const it = await start({ cursors: [{ conversation: 'c1', epoch: 1, seq: 9 }] });
    it.network.last.welcome();
    it.network.last.push({ type: 'gap', conversation: 'c1', epoch: 1, from: 7, to: 9, reason: 'ahead' });
    for (const seq of [7, 8]) it.network.last.push(message(seq, { epoch: 2 }));
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 2, seq: 8 });
    assert.deepEqual(it.seqs(), [7, 8]);
    assert.deepEqual(it.client.cursors(), [{ conversation: 'c1', epoch: 2, seq: 8 }]);
  });

  test('after gap unknown_epoch starts from the first item', async () => {
    const it = await start({ cursors: [{ conversation: 'c1', epoch: 5, seq: 3 }] });
    it.network.last.welcome();
    it.network.last.push({ type: 'gap', conversation: 'c1', epoch: 5, from: 1, to: 3, reason: 'unknown_epoch' });
    for (const seq of [1, 2]) it.network.last.push(message(seq));
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 2 });
    assert.deepEqual(it.seqs(), [1, 2]);
  });

  test('after gap expired goes on behind what is lost', async () => {
    const it = await start({ cursors: [{ conversation: 'c1', epoch: 1, seq: 3 }] });
    it.network.last.welcome();
    it.network.last.push({ type: 'gap', conversation: 'c1', epoch: 1, from: 4, to: 10, reason: 'expired' });
    it.network.last.push(message(11));
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 11 });
    assert.deepEqual(it.seqs(), [11]);
    assert.equal(it.of('gap').length, 1);
  });

  test('forgets a conversation that the server does not know, within one reconnect', async () => {
    const it = await start({ cursors: [{ conversation: 'c1', epoch: 1, seq: 3 }] });
    it.network.last.welcome();
    it.network.last.push({ type: 'gap', conversation: 'c1', epoch: 0, from: 0, to: 0, reason: 'no_such_conversation' });
    it.network.last.drop();
    await it.clock.advance(1000);
    assert.deepEqual(it.network.last.open().resume, []);
    assert.equal(it.of('gap').length, 1);
  });

  test('tells a hole instead of hiding it', async () => {
    const it = await start();
    await open_c1(it);
    it.network.last.push(message(5));
    const { from, to, reason } = it.of('gap')[0];
    assert.deepEqual([from, to, reason], [2, 4, 'missing']);
    assert.deepEqual(it.seqs(), [5]);
  });
});

describe('an agent', () => {
  const agent = { role: 'agent' };
  const assigned = { type: 'assigned', conversation: 'c1', visitor: { id: 'v1' }, group: 'sales', owner_epoch: 1, accept_ms: 9, epoch: 1, seq: 4 };

  test('starts a conversation behind assigned', async () => {
    const it = await start(agent);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    it.network.last.push(assigned);
    it.network.last.push(message(5));
    assert.deepEqual(it.seqs(), [5]);
    assert.equal(it.of('gap').length, 0);
  });

  test('gets the missed items of a conversation that is assigned to it again after welcome', async () => {
    const it = await start({ ...agent, cursors: [{ conversation: 'c1', epoch: 1, seq: 4 }] });
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    it.network.last.push({ ...assigned, seq: 6 });
    for (const seq of [5, 6]) it.network.last.push(message(seq));
    it.network.last.push({ type: 'resumed', conversation: 'c1', epoch: 1, seq: 6 });
    assert.deepEqual(it.seqs(), [5, 6]);
  });

  test('is given the accepted event before its own text whose ack came first', async () => {
    const it = await start(agent);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    it.network.last.push(assigned);
    const sending = it.client.send('c1', 'hello');
    ack(it.network.last, 6);
    assert.deepEqual(it.seqs(), []);
    it.network.last.push({ type: 'event', event: 'accepted', conversation: 'c1', epoch: 1, seq: 5, owner_epoch: 1, ts: 1 });
    assert.deepEqual(it.seqs(), [5, 6]);
    assert.equal((await sending).seq, 6);
    assert.equal(it.of('gap').length, 0);
  });

  test('forgets an own text that was held when the server turns out to have lost it', async () => {
    const it = await start(agent);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    it.network.last.push(assigned);
    it.client.send('c1', 'undone').catch(() => {});
    ack(it.network.last, 6);
    it.network.last.drop();
    await it.clock.advance(1000);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    for (const seq of [5, 6]) it.network.last.push(message(seq, { epoch: 2 }));
    assert.deepEqual(
      it.of('item').map((i) => i.text),
      ['text 5', 'text 6'],
    );
  });

  test('no longer resumes what it has lost', async () => {
    const it = await start(agent);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    it.network.last.push(assigned);
    it.network.last.push({ type: 'unassigned', conversation: 'c1', owner_epoch: 1, reason: 'timeout' });
    it.network.last.drop();
    await it.clock.advance(1000);
    assert.deepEqual(it.network.last.open().resume, []);
  });

  test('may note on a conversation of another without following it', async () => {
    const it = await start(agent);
    it.network.last.welcome({ id: 'a1', role: 'agent' });
    const sending = it.client.send('c1', 'fyi', { kind: 'note' });
    assert.equal(it.network.last.of('send')[0].kind, 'note');
    ack(it.network.last, 12);
    await sending;
    assert.deepEqual(it.client.cursors(), []);
  });
});

test('a stopped client can be started again with the same cursors', async () => {
  const it = await start();
  await open_c1(it);
  it.client.stop();
  assert.equal(it.network.last.closed_with, 1000);
  await assert.rejects(it.client.ping(), { code: 'stopped' });
  it.client.start();
  await settle();
  assert.deepEqual(it.network.last.open().resume, [{ conversation: 'c1', epoch: 1, seq: 1 }]);
});

test('a client stopped while its token is fetched opens no connection', async () => {
  let give;
  const { client, network } = await start({ token: () => new Promise((resolve) => (give = resolve)) });
  client.stop();
  give('late');
  await settle();
  assert.equal(network.sockets.length, 0);
});
