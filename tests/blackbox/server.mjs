// A `taut serve` of its own for each scenario: started on a free port, told to stop, and required to stop well.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { make_token } from './token.mjs';

/** The binary under test; a sanitizer build is chosen with TAUT_BINARY. */
export const kBinary = process.env.TAUT_BINARY ?? join(dirname(fileURLToPath(import.meta.url)), '../../build/release/taut');

/** What peers speak unless a test says otherwise: 'websocket' or 'compact'. */
export const kCarrier = process.env.TAUT_CARRIER ?? 'websocket';

/** For scenarios that only a WebSocket can play: `websocket_only(scenario)(name, …)`. */
export const websocket_only = (register) => (kCarrier === 'websocket' ? register : () => {});

/** How long a test waits for what must happen, before it says that it did not. Nothing is expected to take this long. */
export const kPatienceMs = Number(process.env.TAUT_TEST_PATIENCE_MS ?? 20_000);

/** Factor on the times that scenarios set for the server, 1 for an ordinary build. */
export const kSlowness = Math.max(1, kPatienceMs / 20_000);

const kStopMs = 5_000; // the protocol's promise for SIGTERM
const kBadWords = /AddressSanitizer|ThreadSanitizer|LeakSanitizer|runtime error:|assertion|Assertion/;

const kAdminKey = randomBytes(24).toString('hex');

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Rejects with `what` when `promise` takes longer than the tests' patience. */
export function within(promise, what, ms = kPatienceMs) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${typeof what === 'function' ? what() : what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Server {
  secret = randomBytes(24).toString('hex');
  stderr = '';
  peers = []; // closed with the scenario

  /** Starts with `flags` behind the usual ones, and returns when the server says that it is ready. */
  static async start(flags = [], options = {}) {
    const server = Server.prepare(flags, options);
    await server.start_again();
    return server;
  }

  /** Everything but the start, for tests that have something to do to the folder before. */
  static prepare(flags = [], { binary = kBinary, shards = 2, admin = false } = {}) {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), 'taut-test-'));
    server.secret_file = server.file('secret', `${server.secret}\n`);
    server.data = join(server.folder, 'data');
    const usual = ['--data', server.data, '--secret-file', server.secret_file, '--site', 'demo'];
    // The server reads a hello when it gets to run: a slow build, or a machine that is busy, needs more than its 10 s.
    if (!flags.includes('--hello-timeout-ms')) usual.push('--hello-timeout-ms', String(Math.round(10_000 * kSlowness)));
    if (admin) usual.push('--admin-key-file', server.file('admin-key', `${kAdminKey}\n`));
    if (!flags.includes('--group')) usual.push('--group', 'sales', '--group', 'support');
    server.#start = () => {
      // A free port at first, the same when it starts again.
      const where = ['--listen', `127.0.0.1:${server.port ?? 0}`];
      if (kCarrier === 'compact') where.push('--compact', `127.0.0.1:${server.compact_port ?? 0}`);
      server.#spawn(binary, ['serve', ...where, ...usual, '--shards', String(shards), ...flags.map(String)]);
    };
    return server;
  }

  #start;

  /** The same command once more; it must have ended. */
  async start_again() {
    this.#start();
    await within(this.#ready, () => `the ready line; standard error: ${this.stderr}`);
  }

  /** Stops well and starts again. */
  async restart() {
    for (const peer of this.peers.splice(0)) peer.drop();
    await this.stop();
    await this.start_again();
  }

  /** Dies as of a power cut, and starts again. */
  async crash() {
    this.signal('SIGKILL');
    await this.exited;
    for (const peer of this.peers.splice(0)) peer.drop();
    await this.start_again();
  }

  #child;
  #ready;

  #spawn(binary, args) {
    this.#child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.#child);
    this.#child.stderr.on('data', (bytes) => (this.stderr += bytes));
    this.stdout = [];
    this.exited = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve({ code: null, signal: String(error) }));
      this.#child.on('close', (code, signal) => {
        running.delete(this.#child);
        resolve({ code, signal });
      });
    });
    this.#ready = new Promise((resolve, reject) => {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.stdout.push(line);
        const found = /^listening (wss?)=127\.0\.0\.1:(\d+)(?: compact=127\.0\.0\.1:(\d+))?$/.exec(line);
        if (!found) return;
        this.secure = found[1] === 'wss';
        this.compact_port = found[3] && Number(found[3]);
        resolve((this.port = Number(found[2])));
      });
      this.exited.then((how) => reject(new Error(`exited before it was ready: ${JSON.stringify(how)} ${this.stderr}`)));
    });
    this.#ready.catch(() => {});
  }

  get url() {
    return `${this.secure ? 'wss' : 'ws'}://127.0.0.1:${this.port}/v1/chat`;
  }

  /** Where a Peer connects. */
  get carrier_port() {
    return kCarrier === 'compact' ? this.compact_port : this.port;
  }

  get http() {
    return `${this.secure ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  get pid() {
    return this.#child.pid;
  }

  /** Waits until standard error, from the start on, matches the pattern. */
  logged(pattern) {
    const look = async () => {
      while (!pattern.test(this.stderr)) await sleep(20);
    };
    return within(look(), () => `${pattern} in ${this.stderr}`);
  }

  /** Writes a file into the scenario's folder and returns its path. */
  file(name, content) {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  token(role, id, claims = {}) {
    const for_agents = role === 'agent' ? { groups: ['sales', 'support'], capacity: 3 } : {};
    return make_token(this.secret, { sub: id, role, site: 'demo', ...for_agents, ...claims });
  }

  /** Calls the HTTP API with the key of admin_scenario_on_shards(). */
  api(path, options = {}) {
    return fetch(this.http + path, { headers: { authorization: `Bearer ${kAdminKey}` }, ...options });
  }

  get admin_key() {
    return kAdminKey;
  }

  signal(name) {
    this.#child.kill(name);
  }

  /** SIGTERM; the server must leave within its promise, with 0 and without a complaint of a sanitizer. */
  async stop() {
    this.signal('SIGTERM');
    const how = await within(this.exited, 'the exit after SIGTERM', kStopMs).catch((error) => {
      this.signal('SIGKILL');
      throw error;
    });
    assert.deepEqual(how, { code: 0, signal: null }, this.stderr);
    assert.doesNotMatch(this.stderr, kBadWords);
    assert.equal(this.stdout.length, 1, 'standard output is the ready line alone');
  }

  /** Whatever happened: no process and no file stays. */
  dispose() {
    for (const peer of this.peers) peer.drop();
    this.signal('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Gives `body` a server of the test `t`, which it must leave as it stops without a complaint. */
export async function with_server(t, flags, options, body) {
  const server = await Server.start(flags, options);
  try {
    await body(server);
    for (const peer of server.peers) peer.drop();
    await server.stop();
  } catch (error) {
    if (server.stderr) t.diagnostic(`standard error: ${server.stderr.slice(-2000)}`);
    throw error;
  } finally {
    server.dispose();
  }
}

/** A test with a server of its own. `flags` go to `taut serve`. */
export function scenario(name, flags, body, options = {}) {
  test(name, (t) => with_server(t, flags, options, (server) => body(server, t)));
}

/** The same scenario where everybody shares a thread and where nearly everybody crosses rings. */
export function scenario_on_shards(name, flags, body) {
  for (const shards of [1, 4]) scenario(`${name} (${shards} ${shards === 1 ? 'shard' : 'shards'})`, flags, body, { shards });
}

/** The same with an admin key, for Server.api(). */
export function admin_scenario_on_shards(name, flags, body) {
  for (const shards of [1, 4]) scenario(`${name} (${shards} ${shards === 1 ? 'shard' : 'shards'})`, flags, body, { shards, admin: true });
}

/** For tests that leave nothing behind in the server: they share one. Returns what scenario() is, without flags. */
export function on_one_server(flags, options = {}) {
  let server;
  before(async () => (server = await Server.start(flags, options)));
  after(async () => {
    try {
      await server.stop();
    } finally {
      server.dispose();
    }
  });
  return (name, body) =>
    test(name, async () => {
      try {
        await body(server);
      } finally {
        for (const peer of server.peers.splice(0)) peer.drop();
      }
    });
}

/** Runs the binary to its end. */
export function run(args) {
  const child = spawn(kBinary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes) => (stdout += bytes));
  child.stderr.on('data', (bytes) => (stderr += bytes));
  const ended = new Promise((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
  return within(ended, `the end of taut ${args.join(' ')}`).finally(() => child.kill('SIGKILL'));
}
