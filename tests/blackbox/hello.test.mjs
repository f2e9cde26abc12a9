// The first message: what is welcome, what is refused, and with which close code.
import assert from 'node:assert/strict';
import { Peer, open, visitor } from './peer.mjs';
import { scenario } from './server.mjs';
import { make_token } from './token.mjs';

const hello = (server, fields = {}) => ({
  type: 'hello',
  version: 1,
  role: 'visitor',
  site: 'demo',
  token: server.token('visitor', 'v1'),
  device: 'd1',
  ...fields,
});

/** Says this hello and requires an error with `error` and then the close with `code`. */
async function refused(server, frame, error, code) {
  const peer = await Peer.open(server);
  peer.say(frame);
  const said = await peer.take('error');
  assert.equal(said.code, error, JSON.stringify(said));
  assert.equal((await peer.end()).code, code);
}

scenario('one whose connection was replaced by its own leaves and comes back', [], async (server) => {
  const replaced = await visitor(server, 'v1', { device: 'same' });
  const second = await visitor(server, 'v1', { device: 'same' });
  assert.equal((await replaced.end()).code, 4011);
  second.drop();
  const third = await visitor(server, 'v1', { device: 'same' });
  await third.alive();
});

scenario('welcome says who one is and what holds here', ['--ping-ms', '7000', '--max-text-bytes', '5000'], async (server) => {
  const before = Date.now();
  const { welcome } = await visitor(server, 'v1', { name: 'Vera' });
  const { server_time, ...rest } = welcome;
  assert.deepEqual(rest, { type: 'welcome', id: 'v1', role: 'visitor', mode: 'durable', ping_ms: 7000, max_text_bytes: 5000, max_inflight: 1024 });
  assert.ok(server_time >= before - 1000 && server_time <= Date.now() + 1000);
});

scenario('a token that does not verify closes with 4001, an expired one with 4105', [], async (server) => {
  const claims = { sub: 'v1', role: 'visitor', site: 'demo' };
  const good = server.token('visitor', 'v1');
  const [head, body, signature] = good.split('.');
  const tokens = {
    empty: '',
    garbage: 'x.y.z',
    other_secret: make_token('another secret that is long enough to be one', claims),
    no_algorithm: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`,
    cut_signature: `${head}.${body}.${signature.slice(0, -2)}`,
    other_body: `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'v2', exp: 9999999999 })).toString('base64url')}.${signature}`,
  };
  for (const token of Object.values(tokens)) await refused(server, hello(server, { token }), 'bad_token', 4001);
  const expired = make_token(server.secret, { ...claims, exp: Math.floor(Date.now() / 1000) - 60 });
  await refused(server, hello(server, { token: expired }), 'bad_token', 4105);
});

scenario('a token of 4,096 bytes is looked at, a longer one is no field', [], async (server) => {
  await refused(server, hello(server, { token: 'x'.repeat(4096) }), 'bad_token', 4001);
  await refused(server, hello(server, { token: 'x'.repeat(4097) }), 'bad_field', 1002);
});

scenario('a role that the token does not have is refused', [], async (server) => {
  const peer = await Peer.open(server);
  peer.say(hello(server, { role: 'agent' }));
  assert.ok(['bad_token', 'forbidden'].includes((await peer.take('error')).code));
  assert.equal((await peer.end()).code, 4001);
});

scenario('an unknown site closes with 4004 and another version with 4010', [], async (server) => {
  const peer = await Peer.open(server);
  peer.say(hello(server, { site: 'elsewhere' }));
  await peer.take('error');
  assert.equal((await peer.end()).code, 4004);
  const other = await Peer.open(server);
  other.say(hello(server, { version: 2 }));
  await other.take('error');
  assert.equal((await other.end()).code, 4010);
});

scenario('anything before hello is not_hello', [], async (server) => {
  const peer = await Peer.open(server);
  peer.say({ type: 'ping', ref: 1 });
  assert.equal((await peer.take('error')).code, 'not_hello');
});

scenario('a newer connection of the same identity and device replaces the older with 4011', [], async (server) => {
  const first = await visitor(server, 'v1', { device: 'phone' });
  const other = await visitor(server, 'v1', { device: 'desk' });
  const second = await visitor(server, 'v1', { device: 'phone' });
  assert.equal((await first.end()).code, 4011);
  await second.alive();
  await other.alive();
});

scenario('connections go to the home of their identity, wherever they were accepted', [], async (server) => {
    const peers = await Promise.all(Array.from({ length: 40 }, (_, i) => visitor(server, `visitor-${i}`)));
    const conversations = await Promise.all(peers.map((peer) => open(peer)));
    assert.equal(new Set(conversations).size, 40);
    const acks = await Promise.all(peers.map((peer, i) => peer.send(conversations[i], `hello of ${i}`)));
    for (const ack of acks) assert.equal(ack.seq, 2);
    const again = await Promise.all(peers.map((_, i) => visitor(server, `visitor-${i}`)));
    const histories = await Promise.all(again.map((peer, i) => peer.get('history', { type: 'history', conversation: conversations[i] })));
    histories.forEach(({ items }, i) => assert.equal(items.at(-1).text, `hello of ${i}`));
  },
  { shards: 4 },
);
