// Working hours of groups, and what overflows into another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, open, visitor } from './peer.mjs';
import { admin_scenario_on_shards, scenario_on_shards, Server } from './server.mjs';

const kDays = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'];
/** The day of the week in `days` days, UTC. */
const day = (days) => kDays[(new Date().getUTCDay() + days) % 7];
// Closed for at least a day from now on.
const closed_sales = ['--group', 'sales', '--group', 'support', '--hours', `sales=${day(3)} 09:00-10:00`];

scenario_on_shards('outside working hours a visitor waits and hears when it opens; agents may take', closed_sales, async (server) => {
  const a = await agent(server, 'a1');
  const v = await visitor(server, 'v1');
  const opened = await v.get('opened', { type: 'open', group: 'sales' });
  assert.deepEqual([opened.state, opened.position, opened.open], ['queued', 1, false]);
  const opens = new Date(opened.opens_at);
  assert.deepEqual([kDays[opens.getUTCDay()], opens.getUTCHours(), opens.getUTCMinutes(), opened.opens_at % 60_000], [day(3), 9, 0, 0]);
  assert.ok(opened.opens_at > Date.now() && opened.opens_at < Date.now() + 4 * 86_400_000);
  const elsewhere = await v.get('opened', { type: 'open', group: 'support' });
  assert.ok(!('open' in elsewhere) && !('opens_at' in elsewhere), 'support is always open');
  assert.equal((await a.take('assigned')).conversation, elsewhere.conversation);
  await a.get('ok', { type: 'take', conversation: opened.conversation });
  const again = await v.get('opened', { type: 'open', group: 'sales' });
  assert.deepEqual([again.state, 'open' in again], ['active', false]);
});

admin_scenario_on_shards('a closed group overflows at once, into its own queue it comes back', [...closed_sales, '--overflow', 'sales=support when closed'], async (server) => {
  await agent(server, 'own', { claims: { groups: ['sales'] } });
  const helper = await agent(server, 'helper', { claims: { groups: ['support'] } });
  const v = await visitor(server, 'v1');
  const c = await open(v);
  const assigned = await helper.take('assigned');
  assert.deepEqual([assigned.conversation, assigned.group], [c, 'sales']);
  await helper.get('ok', { type: 'decline', conversation: c });
  assert.equal((await v.take((f) => f.event === 'requeued')).group, 'sales');
  const { agents } = await (await server.api(`/v1/dispatch/explain/${c}`)).json();
  assert.deepEqual(
    agents.map((a) => [a.agent, a.exclusion]),
    [
      ['own', 'closed'],
      ['helper', 'held'],
    ],
  );
});

scenario_on_shards('who waited long enough is offered to the other group', ['--group', 'sales', '--group', 'support', '--overflow', 'sales=support after 1s'], async (server) => {
  const helper = await agent(server, 'helper', { claims: { groups: ['support'] } });
  const before = performance.now();
  const c = await open(await visitor(server, 'v1'));
  assert.equal((await helper.take('assigned')).conversation, c);
  assert.ok(performance.now() - before >= 1_000);
});

for (const [flags, words] of [
  [['--hours', 'sales=Mo 9-18'], /--hours "sales=Mo 9-18".*09:00-18:00/],
  [['--hours', 'nobody=Mo 09:00-18:00'], /there is no --group nobody/],
  [['--overflow', 'sales=support'], /--overflow "sales=support".*when closed/],
  [['--timezone', 'Europe/Nowhere'], /--timezone.*Europe\/Berlin/],
]) {
  test(`${flags.join(' ')} is refused with its reason`, async () => {
    await assert.rejects(Server.start(flags), words);
  });
}
