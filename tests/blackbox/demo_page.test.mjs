// The demonstration page in a real browser: two windows talk, and text is shown as text.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { open, visitor } from './peer.mjs';
import { Server, kPatienceMs } from './server.mjs';

const kPicture = join(dirname(fileURLToPath(import.meta.url)), '../../docs/demo.png');
const kChromium = {
  executablePath: process.env.TAUT_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
};

let browser;

before(async () => {
  browser = await chromium.launch(kChromium);
});

after(() => browser?.close());

/** A server with the page on it, stopped whatever happens; complaints of the page fail the test. */
async function on_page(flags, body) {
  const server = await Server.start(['--demo', ...flags]);
  const context = await browser.newContext({ viewport: { width: 1240, height: 860 }, deviceScaleFactor: 2 });
  context.setDefaultTimeout(3 * kPatienceMs); // a browser on a busy machine is the slowest of all
  const complaints = [];
  const visit = async (path, expected = /favicon/) => {
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !expected.test(message.text() + message.location().url)) complaints.push(message.text());
    });
    await page.goto(`${server.http}${path}`);
    return page;
  };
  try {
    await body(visit, server, context);
    assert.deepEqual(complaints, []);
    await context.close();
    await server.stop();
  } finally {
    await context.close();
    server.dispose();
  }
}

const side = (page, role) => page.locator(`.pane[data-role="${role}"]`);
const say = async (pane, text) => {
  await pane.locator('textarea').fill(text);
  await pane.locator('textarea').press('Enter');
};
const bubble = (pane, text) => pane.locator('.bubble', { hasText: text }).first();
const linked = (pane) => pane.locator('.link[data-state="connected"]').waitFor();

test('on one page a visitor and an agent talk, and the latency of each message is shown', () =>
  on_page([], async (visit) => {
    const page = await visit('/');
    const [visitor, agent] = [side(page, 'visitor'), side(page, 'agent')];
    await linked(visitor);
    await linked(agent);
    await say(visitor, 'Hello! Does the tent come with pegs?');
    await agent.locator('.state', { hasText: 'Robin would like to talk about “Hello! Does the tent come with pegs?”' }).waitFor();
    await agent.getByRole('button', { name: 'Accept' }).click();
    await visitor.locator('.state[data-state="active"]').waitFor();
    await agent.locator('.remark', { hasText: 'Alex joined' }).waitFor();
    for (const [pane, name] of [[visitor, /^Robin \(visitor-\d+\)$/], [agent, /^Alex \(agent-\d+\)$/]]) {
      assert.match(await pane.locator('.identity').textContent(), name);
    }
    await page.getByRole('button', { name: 'Burst 100' }).click();
    await bubble(agent, 'Burst 100 of 100').waitFor();
    await bubble(agent, 'Does the tent come with pegs?').waitFor();
    await agent.locator('textarea').pressSequentially('It does');
    await visitor.locator('.typing', { hasText: /is typing/ }).waitFor();
    await say(agent, 'It does: twelve, and two spare ones.');
    await visitor.locator('.bubble.own .tick[data-mark="read"]').first().waitFor();
    await bubble(visitor, 'two spare ones').waitFor();
    await visitor.locator('.remark', { hasText: 'Alex joined' }).waitFor();
    await say(visitor, 'Then I take it. Danke schön!');
    await bubble(agent, 'Then I take it').waitFor();
    await say(agent, '<img src=x onerror="document.title=1"> is shown as text');
    await bubble(visitor, 'is shown as text').waitFor();
    assert.equal(await page.locator('.log img').count(), 0);
    await page.waitForFunction(() => Number(document.getElementById('latency-count').textContent) >= 104);
    assert.match(await page.locator('#latency-p99').textContent(), /^[\d.]+ ms$/);
    if (process.env.TAUT_PICTURE) await page.screenshot({ path: kPicture });
    await agent.getByRole('button', { name: 'Close' }).click();
    await visitor.locator('.state[data-state="closed"]').waitFor();
  }));

test('two windows talk, and a reload loses nothing', () =>
  on_page([], async (visit) => {
    const window_a = await visit('/?as=agent');
    const window_v = await visit('/?as=visitor');
    const [visitor, agent] = [side(window_v, 'visitor'), side(window_a, 'agent')];
    assert.equal(await side(window_v, 'agent').count(), 0);
    assert.match(await window_v.locator('#latency-what').textContent(), /nothing until the agent writes/);
    assert.match(await window_a.locator('#latency-what').textContent(), /nothing until the visitor writes/);
    await linked(agent);
    await agent.locator('.switch', { hasText: 'Accept at once' }).click();
    await say(visitor, 'first');
    await bubble(agent, 'first').waitFor();
    await say(agent, 'second');
    await bubble(visitor, 'second').waitFor();
    await window_a.waitForFunction(() => Number(document.getElementById('latency-count').textContent) >= 1);
    await window_v.reload();
    await bubble(visitor, 'second').waitFor();
    await bubble(visitor, 'first').waitFor();
    assert.equal(await visitor.locator('.bubble').count(), 2);
    await window_a.reload();
    await bubble(agent, 'first').waitFor();
    await say(visitor, 'third');
    await bubble(agent, 'third').waitFor();
  }));

// Elsewhere stored script ran in the workbench.
test('script in a name, a subject, a text or an address is shown as text', () =>
  on_page([], async (visit, server) => {
    const kScript = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    const page = await visit('/?as=agent');
    const title = await page.title();
    const agent = side(page, 'agent');
    await linked(agent);
    const v = await visitor(server, 'v1', { claims: { name: `${kScript}name` } });
    const c = await open(v, 'sales', { subject: `${kScript}subject`, attributes: { page: `javascript:${kScript}` } });
    await agent.locator('.state', { hasText: `${kScript}name would like to talk about “${kScript}subject”` }).waitFor();
    await agent.getByRole('button', { name: 'Accept' }).click();
    await v.take((f) => f.event === 'accepted');
    await v.send(c, `${kScript}text`);
    await v.send(c, 'javascript:document.title=1');
    await v.get('ok', { type: 'close', conversation: c, reason: `${kScript}reason` });
    await bubble(agent, `${kScript}text`).waitFor();
    await bubble(agent, 'javascript:document.title=1').waitFor();
    await agent.locator('.remark', { hasText: 'Conversation closed' }).waitFor();
    assert.equal(await page.locator('img, .pane a, .pane script').count(), 0);
    assert.equal(await page.title(), title);
  }));

test('the queue and the presence of the agent are visible', () =>
  on_page([], async (visit) => {
    const page = await visit('/');
    const [visitor, agent] = [side(page, 'visitor'), side(page, 'agent')];
    await linked(agent);
    await agent.locator('.switch', { hasText: 'Online' }).click();
    await agent.locator('.state', { hasText: 'Offline' }).waitFor();
    await say(visitor, 'anybody there?');
    await visitor.locator('.state', { hasText: 'position 1' }).waitFor();
    await agent.locator('.switch', { hasText: 'Online' }).click();
    await agent.getByRole('button', { name: 'Decline' }).click();
    await visitor.locator('.state', { hasText: 'Queued' }).waitFor();
  }));

test('a connection that is lost is seen to be lost, and comes back', () =>
  on_page([], async (visit, server) => {
    const page = await visit('/?as=visitor', /./);
    const visitor = side(page, 'visitor');
    await linked(visitor);
    await say(visitor, 'before');
    await visitor.locator('.bubble .meta', { hasText: '✓' }).waitFor();
    server.signal('SIGSTOP');
    await say(visitor, 'while the server is frozen');
    await visitor.locator('.bubble.waiting').waitFor();
    server.signal('SIGCONT');
    await visitor.locator('.bubble .meta', { hasText: '✓' }).nth(1).waitFor();
    await page.evaluate(() => 0);
  }));

test('on a phone nothing is wider than the screen, in light and in dark', () =>
  on_page([], async (visit, _, context) => {
    const page = await visit('/');
    await page.setViewportSize({ width: 360, height: 740 });
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), colorScheme);
    }
    assert.ok(context);
  }));
