// Those who are not there: agents whose link dies without a word, agents who say that they are offline, phones that sleep.
import assert from 'node:assert/strict';
import { agent, open, talk, visitor } from './peer.mjs';
import { Proxy } from './proxy.mjs';
import { kSlowness, scenario, scenario_on_shards } from './server.mjs';

const kPingMs = 300 * kSlowness;
const kGraceMs = 1_500 * kSlowness; // several times the deadline of a pong
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Elsewhere agents who had gone still showed online. No FIN comes, as from a machine that lost its power.
scenario('an agent who vanished without a word is gone within the deadline and the grace', ['--ping-ms', kPingMs, '--agent-grace-ms', kGraceMs], async (server) => {
  const proxy = await Proxy.start(server.carrier_port);
  const a = await agent(server, 'a1', { via: proxy.port });
  const v = await visitor(server, 'v1');
  const c = await open(v);
  await a.take('assigned');
  await a.get('ok', { type: 'accept', conversation: c });
  a.pause(); // reads nothing more, so it answers no ping; the link stays
  const begin = performance.now();
  const requeued = await v.take((f) => f.event === 'requeued');
  assert.equal(requeued.reason, 'offline');
  assert.ok(performance.now() - begin >= kGraceMs, 'not before the grace');
  const other = await agent(server, 'a2');
  assert.equal((await other.take('assigned')).conversation, c);
  a.drop();
  proxy.stop();
});

// Elsewhere offline flipped back. Nothing but the agent's own word brings it back.
scenario_on_shards('an agent who said offline stays offline, whatever its connections do', ['--agent-grace-ms', '50'], async (server) => {
  const a = await agent(server, 'a1');
  await a.get('ok', { type: 'presence', status: 'offline' });
  const v = await visitor(server, 'v1');
  const c = await open(v);
  const offered = (peer) => peer.frames.some((f) => f.type === 'assigned');
  await a.alive(); // a late heartbeat
  const tab = await agent(server, 'a1', { status: null });
  await tab.alive();
  tab.drop();
  a.drop();
  await pause(200 * kSlowness); // past the grace
  const back = await agent(server, 'a1', { status: null });
  await back.alive();
  assert.ok(![a, tab, back].some(offered));
  await v.alive();
  assert.ok(!v.items(c).some((f) => f.event === 'assigned'));
  await back.get('ok', { type: 'presence', status: 'online' });
  assert.equal((await back.take('assigned')).conversation, c);
});

/** `fall_asleep` returns when the server has lost the phone. */
async function keeps_its_place(server, fall_asleep) {
  const proxy = await Proxy.start(server.carrier_port);
  const phone = await visitor(server, 'phone', { via: proxy.port });
  const c = await open(phone);
  const behind = await visitor(server, 'behind');
  const opened = await behind.get('opened', { type: 'open', group: 'sales' });
  assert.equal(opened.position, 2);
  await fall_asleep(phone, proxy);
  await pause(1_000);
  assert.ok(!behind.frames.some((f) => f.type === 'queue'), 'nobody has moved up');
  const woken = await visitor(server, 'phone', { resume: [{ conversation: c, epoch: 1, seq: 1 }] });
  await woken.take('resumed');
  assert.equal((await woken.get('opened', { type: 'open', group: 'sales' })).position, 1);
  const a = await agent(server, 'a1', { capacity: 1 });
  assert.equal((await a.take('assigned')).conversation, c);
  assert.equal((await behind.take('queue')).position, 1);
  proxy.stop();
}

// Elsewhere a sleeping phone lost its place in the queue. Two minutes of three; here a second or two of a minute.
scenario_on_shards('a phone that slept within the grace has kept its place in the queue', ['--visitor-grace-ms', 60_000], (server) => keeps_its_place(server, (phone) => phone.drop()));

scenario_on_shards('a phone that fell asleep without a word has kept its place, too', ['--visitor-grace-ms', 60_000, '--ping-ms', kPingMs], (server) =>
  keeps_its_place(server, async (phone, proxy) => {
    proxy.deaf = true; // so that no ping is answered
    while (proxy.server_ended === 0) await pause(20);
  }));

// Elsewhere closing one tab took the user offline. The new one is there before the old one closes.
scenario_on_shards('a tab that is replaced by a new one takes nobody offline', ['--agent-grace-ms', '50'], async (server) => {
  const { a, v, c, seq } = await talk(server);
  const next = await agent(server, 'a1', { status: null });
  await next.take('assigned');
  a.drop();
  await pause(300 * kSlowness);
  await v.send(c, 'still there?');
  assert.equal((await next.item(c, seq + 1)).text, 'still there?');
  assert.ok(!v.items(c).some((f) => f.event === 'requeued'));
});
