// A person who sends as fast as answers come back, and counts instead of remembering.
import WebSocket from 'ws';
import { CompactConnection } from './compact_peer.mjs';
import { kCarrier, within } from './server.mjs';

export class Chatter {
  acked = 0; // sends accepted
  durable = 0; // … and on the disk
  pushed = 0; // messages of the other side received
  refused = 0; // errors
  #connection; // as of a Peer
  #waiters = [];
  #next = 0; // number of the next client_msg_id
  #last = {}; // by type: the newest frame that is neither an ack nor a message

  static async join(server, role, id) {
    const chatter = new Chatter();
    server.peers.push(chatter);
    await within(kCarrier === 'compact' ? chatter.#connect_compact(server) : chatter.#connect_websocket(server), 'the connection');
    await chatter.ask({ type: 'hello', version: 1, role, site: 'demo', token: server.token(role, id), device: 'd' }, 'welcome');
    return chatter;
  }

  #connect_compact(server) {
    this.#connection = new CompactConnection(server, {}, (frame) => this.#on_frame(frame.type, frame.level, () => frame));
    return this.#connection.opened;
  }

  #connect_websocket(server) {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/chat`, ['taut.v1.json'], { perMessageDeflate: false });
    this.#connection = { send: (frame) => socket.send(JSON.stringify(frame)), terminate: () => socket.terminate() };
    socket.on('message', (data) => {
      const text = data.toString();
      this.#on_frame(/"type":"(\w+)"/.exec(text)[1], /"level":"(\w+)"/.exec(text)?.[1], () => JSON.parse(text));
    });
    return new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  }

  #on_frame(type, level, parse) {
    if (type === 'ack' && level === 'durable') this.durable++;
    else if (type === 'ack') this.acked++;
    else if (type === 'message') this.pushed++;
    else {
      if (type === 'error') this.refused++;
      this.#last[type] = parse();
    }
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #changed() {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async until(condition, what) {
    const met = async () => {
      while (!condition()) await this.#changed();
    };
    await within(met(), what, 300_000);
  }

  say(frame) {
    this.#connection.send(frame);
  }

  /** Waits for the first frame of a type. */
  async get(type) {
    await this.until(() => this.#last[type], type);
    return this.#last[type];
  }

  async ask(frame, type) {
    this.say(frame);
    return this.get(type);
  }

  /** Sends `count` messages, at most `window` of them unanswered, and returns when all are answered. */
  async send_many(conversation, count, window) {
    const goal = this.acked + count;
    let sent = this.acked;
    while (this.acked < goal) {
      for (; sent < goal && sent - this.acked < window; sent++) {
        this.say({ type: 'send', ref: sent, conversation, client_msg_id: `m${this.#next++}`, text: 'one message among very many, of a usual length' });
      }
      const seen = this.acked + this.refused;
      await this.until(() => this.acked + this.refused > seen || this.acked >= goal, 'an answer');
      if (this.refused > 0) throw new Error(`refused: ${JSON.stringify(this.#last.error)}`);
    }
  }

  drop() {
    this.#connection.terminate();
  }
}

/** A visitor and an agent who talk. */
export async function pair(server, i) {
  const agent = await Chatter.join(server, 'agent', `a${i}`);
  await agent.ask({ type: 'presence', ref: 1, status: 'online', capacity: 1 }, 'ok');
  const visitor = await Chatter.join(server, 'visitor', `v${i}`);
  const { conversation } = await visitor.ask({ type: 'open', ref: 1, group: 'sales' }, 'opened');
  return { agent, visitor, conversation };
}

/** The figures of /metrics by name; labelled ones are summed. */
export async function metrics(server) {
  const text = await (await fetch(`${server.http}/metrics`)).text();
  const sums = {};
  for (const line of text.split('\n')) {
    const found = /^(taut_\w+)(?:\{[^}]*\})? ([\d.e+-]+)$/.exec(line);
    if (found) sums[found[1]] = (sums[found[1]] ?? 0) + Number(found[2]);
  }
  return sums;
}
