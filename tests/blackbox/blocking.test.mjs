// Visitors who are sent away for a time: by the agent who has them, and by an administrator.
import assert from 'node:assert/strict';
import { metrics } from './chatter.mjs';
import { Peer, agent, open, talk, visitor } from './peer.mjs';
import { admin_scenario_on_shards, scenario_on_shards, websocket_only } from './server.mjs';

/** Says hello as a visitor who must not come in. */
async function is_blocked(server, id) {
  const peer = await Peer.open(server);
  peer.say({ type: 'hello', version: 1, role: 'visitor', site: 'demo', token: server.token('visitor', id), device: 'd' });
  assert.equal((await peer.take('error')).code, 'forbidden');
  assert.equal((await peer.end()).code, 4003);
}

scenario_on_shards('an agent blocks the visitor whom it has', [], async (server) => {
  const { a, v, c } = await talk(server);
  const second = await visitor(server, 'v1');
  const other = await open(v, 'support');
  await a.get('ok', { type: 'block', conversation: c });
  for (const peer of [v, second]) {
    const closed = await peer.take((f) => f.event === 'closed' && f.conversation === c);
    assert.deepEqual([closed.reason, closed.agent], ['blocked', 'a1']);
    assert.equal((await peer.take((f) => f.event === 'closed' && f.conversation === other)).reason, 'blocked');
    assert.equal((await peer.end()).code, 4003);
  }
  assert.equal((await a.take('unassigned')).reason, 'closed');
  await is_blocked(server, 'v1');
  await (await visitor(server, 'v2')).alive();
  await (await agent(server, 'v1', { status: null })).alive(); // an agent of this id is somebody else
});

scenario_on_shards('a block ends by itself', [], async (server) => {
  const { a, v, c } = await talk(server);
  await a.get('ok', { type: 'block', conversation: c, seconds: 1 });
  await v.end();
  await is_blocked(server, 'v1');
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await (await visitor(server, 'v1')).alive();
});

scenario_on_shards('who may not block, and what', [], async (server) => {
  const { a, v, c } = await talk(server);
  await v.refused('forbidden', { type: 'block', conversation: c });
  await (await agent(server, 'a2', { status: null })).refused('not_yours', { type: 'block', conversation: c });
  for (const seconds of [0, -1, 31_622_401, '60']) await a.refused('bad_field', { type: 'block', conversation: c, seconds });
  await a.refused('no_such_conversation', { type: 'block', conversation: 'c000-1-1' });
  await a.get('ok', { type: 'close', conversation: c });
  await a.refused('closed', { type: 'block', conversation: c });
  await v.alive();
});

websocket_only(admin_scenario_on_shards)('an administrator blocks by id, and lets in again', [], async (server) => {
  const { v, c, a } = await talk(server);
  const path = '/v1/visitors/v1/block';
  const status = async (method, where = path, options = {}) => (await server.api(where, { method, ...options })).status;
  for (const where of ['?seconds=0', '?seconds=x', '?seconds=31622401', '?for=1', '?seconds=1&x=2']) assert.equal(await status('PUT', path + where), 400, where);
  assert.equal(await status('PUT', path, { headers: { authorization: 'Bearer no' } }), 401);
  assert.equal(await status('PUT', '/v1/visitors/no%20good/block'), 404);
  assert.equal(await status('PUT', '/v1/visitors/block'), 405);
  await v.alive();
  for (const where of [path, `${path}?seconds=3600`]) assert.equal(await status('PUT', where), 204);
  assert.equal((await v.take((f) => f.event === 'closed')).reason, 'blocked');
  assert.equal((await v.end()).code, 4003);
  assert.equal((await a.take('unassigned')).conversation, c);
  assert.equal((await metrics(server)).taut_visitors_blocked, 1);
  await is_blocked(server, 'v1');
  for (let i = 0; i < 2; i++) assert.equal(await status('DELETE'), 204);
  await (await visitor(server, 'v1')).alive();
  assert.equal((await metrics(server)).taut_visitors_blocked, 0);
  // Somebody who was never there.
  assert.equal(await status('PUT', '/v1/visitors/stranger/block'), 204);
  await is_blocked(server, 'stranger');
});
