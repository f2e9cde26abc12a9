// A PostgreSQL of a scenario's own, in a folder that goes with it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { with_server, within } from './server.mjs';

const kPrograms = '/usr/lib/postgresql/15/bin';

/** PostgreSQL does not run as root: then it runs as its own user. */
const as_its_user = process.getuid() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];

class Postgres {
  #child;

  static available() {
    return existsSync(`${kPrograms}/initdb`);
  }

  static async create() {
    const postgres = new Postgres();
    postgres.folder = mkdtempSync(join(tmpdir(), 'taut-postgres-'));
    chmodSync(postgres.folder, 0o777);
    const [program, ...args] = [...as_its_user, `${kPrograms}/initdb`, '-D', postgres.#data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8'];
    execFileSync(program, args, { cwd: postgres.folder, stdio: 'ignore' });
    await postgres.start();
    return postgres;
  }

  get #data() {
    return join(this.folder, 'data');
  }

  /** For --store; taut runs as whoever runs the tests. */
  get url() {
    return `postgresql://postgres@/postgres?host=${this.folder}`;
  }

  async start() {
    const [program, ...args] = [...as_its_user, `${kPrograms}/postgres`, '-D', this.#data, '-k', this.folder, '-c', 'listen_addresses=', '-c', 'shared_buffers=16MB'];
    this.#child = spawn(program, args, { cwd: this.folder, stdio: 'ignore' });
    const ready = async () => {
      while (spawnSync(`${kPrograms}/pg_isready`, ['-h', this.folder, '-q']).status !== 0) await sleep(50);
    };
    await within(ready(), 'PostgreSQL to be ready');
  }

  /** The server and its children, who serve the connections. */
  #all() {
    const { pid } = this.#child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return [pid, ...children.filter(Boolean).map(Number)];
  }

  /** As of a crash. */
  async kill() {
    const gone = new Promise((resolve) => this.#child.on('close', resolve));
    for (const pid of this.#all()) process.kill(pid, 'SIGKILL');
    await within(gone, 'the end of PostgreSQL');
  }

  /** It answers nothing, and its connections stay. */
  pause() {
    for (const pid of this.#all()) process.kill(pid, 'SIGSTOP');
  }

  resume() {
    for (const pid of this.#all()) process.kill(pid, 'SIGCONT');
  }

  dispose() {
    try {
      for (const pid of this.#all()) process.kill(pid, 'SIGKILL');
    } catch {
      // It has gone already.
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A scenario whose history is in a PostgreSQL of its own. */
export function postgres_scenario(name, flags, body, options = {}) {
  test(name, { skip: !Postgres.available() && 'PostgreSQL is not installed' }, async (t) => {
    const postgres = await Postgres.create();
    try {
      await with_server(t, [...flags, '--store', postgres.url], options, (server) => body(server, postgres));
    } finally {
      postgres.dispose();
    }
  });
}
