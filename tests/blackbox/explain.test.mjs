// Why a conversation waits: GET /v1/dispatch/explain/{conversation}.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { agent, open, talk, up_to, visitor } from './peer.mjs';
import { admin_scenario_on_shards, scenario, within } from './server.mjs';

const explain = (server, conversation, options) => server.api(`/v1/dispatch/explain/${conversation}`, options);

admin_scenario_on_shards('each agent of the group with the first rule that excludes it', [], async (server) => {
  const gone = await agent(server, 'gone', { status: 'away' });
  await agent(server, 'silent', { status: null });
  await agent(server, 'away', { status: 'away' });
  await agent(server, 'busy', { status: 'busy', capacity: 2 });
  const sales = { claims: { groups: ['sales'], capacity: 1 } };
  await agent(server, 'elsewhere', { claims: { groups: ['support'] } });
  gone.drop();
  const full = await agent(server, 'full', sales);
  const first = await open(await visitor(server, 'v1'));
  assert.equal((await full.take('assigned')).conversation, first);
  const held = await agent(server, 'held', sales);
  const v = await visitor(server, 'v2');
  const c = await open(v);
  assert.equal((await held.take('assigned')).conversation, c);
  await held.get('ok', { type: 'decline', conversation: c });
  await v.take((f) => f.event === 'requeued');
  const noticed = async () => {
    for (;;) {
      const answer = await explain(server, c);
      assert.equal(answer.status, 200);
      if ((await answer.clone().json()).agents[0].exclusion !== 'away') return answer;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const response = await within(noticed(), 'the end of the connection to be noticed');
  assert.equal(response.headers.get('content-type'), 'application/json');
  const { agents, ...rest } = await response.json();
  assert.deepEqual(rest, { conversation: c, group: 'sales', state: 'queued', position: 1 });
  assert.deepEqual(
    agents.map((a) => [a.agent, a.exclusion, a.presence, a.load, a.capacity]),
    [
      ['gone', 'disconnected', 'away', 0, 3],
      ['silent', 'offline', 'offline', 0, 3],
      ['away', 'away', 'away', 0, 3],
      ['busy', 'busy', 'busy', 0, 2],
      ['full', 'full', 'online', 1, 1],
      ['held', 'held', 'online', 0, 1],
    ],
  );
});

admin_scenario_on_shards('more agents than one page has', [], async (server) => {
  const names = up_to(150).map((i) => `a${i}`);
  for (const name of names) await agent(server, name, { status: 'away' });
  const c = await open(await visitor(server, 'v1'));
  const { agents } = await (await explain(server, c)).json();
  assert.deepEqual(agents.map((a) => a.agent).toSorted(), names.toSorted());
});

admin_scenario_on_shards('what is not there, and what does not wait', [], async (server) => {
  const problem = async (conversation, status) => {
    const response = await explain(server, conversation);
    assert.equal(response.status, status);
    assert.equal(response.headers.get('content-type'), 'application/problem+json');
    return (await response.json()).detail;
  };
  await problem('c000-x-1', 404);
  await problem('nonsense', 404);
  await problem('', 404);
  const { v, c } = await talk(server);
  assert.match(await problem(c, 409), /active.*a1/);
  await v.get('ok', { type: 'close', conversation: c });
  assert.match(await problem(c, 409), /closed/);
  assert.equal((await explain(server, c, { headers: {} })).status, 401);
  assert.equal((await explain(server, c, { method: 'POST' })).status, 404);
});

admin_scenario_on_shards('clients that go while they wait, and those that ask twice at once', [], async (server) => {
  for (const i of up_to(100)) await agent(server, `a${i}`, { status: 'away' });
  const c = await open(await visitor(server, 'v1'));
  const request = `GET /v1/dispatch/explain/${c} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.admin_key}\r\n\r\n`;
  for (let i = 0; i < 200; i++) {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.write(request.repeat(3), resolve));
    i % 2 ? socket.resetAndDestroy() : socket.destroy();
  }
  const answers = await Promise.all(up_to(20).map(() => explain(server, c)));
  for (const answer of answers) assert.equal((await answer.json()).agents.length, 100);
});

scenario('without a key nobody may ask', [], async (server) => {
  assert.equal((await fetch(`${server.http}/v1/dispatch/explain/c000-x-1`)).status, 403);
});
