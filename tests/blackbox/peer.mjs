// One WebSocket connection that speaks the protocol frame by frame, and remembers everything it was told.
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { within } from './server.mjs';

let next_device = 1;

export class Peer {
  frames = []; // everything received, in order
  #taken = new Set(); // frames that take() gave out
  #waiters = new Set();
  #next_ref = 1;
  #socket;

  /** Opens the socket; no hello yet. `via` is another port on loopback, as of a proxy. */
  static async open(server, { via = server.port, path = '/v1/chat', headers = {}, pong = true } = {}) {
    const peer = new Peer();
    server.peers.push(peer);
    const url = `${server.secure ? 'wss' : 'ws'}://127.0.0.1:${via}${path}`;
    const options = { perMessageDeflate: false, headers, autoPong: pong, rejectUnauthorized: false };
    peer.#socket = new WebSocket(url, ['taut.v1.json'], options);
    peer.#socket.on('message', (data) => peer.#on_frame(JSON.parse(data.toString())));
    peer.closed = new Promise((resolve) => {
      peer.#socket.on('close', (code, reason) => {
        peer.close_code = code;
        resolve({ code, reason: reason.toString() });
        peer.#wake();
      });
    });
    const opened = new Promise((resolve, reject) => {
      peer.#socket.on('open', resolve);
      peer.#socket.on('error', reject);
    });
    await within(opened, 'the WebSocket handshake');
    return peer;
  }

  /** Opens, says hello and waits for `welcome`. `resume` as in the protocol; `claims` go into the token. */
  static async hello(server, role, id, { claims, via, path, headers, ...fields } = {}) {
    const peer = await Peer.open(server, { via, path, headers });
    peer.role = role;
    peer.id = id;
    peer.say({ type: 'hello', version: 1, role, site: 'demo', token: server.token(role, id, claims), device: `d${next_device++}`, ...fields });
    peer.welcome = await peer.take('welcome');
    return peer;
  }

  #on_frame(frame) {
    this.frames.push(frame);
    this.#wake();
  }

  #wake() {
    for (const waiter of this.#waiters) waiter();
  }

  /** Sends a frame: an object, or a string as it is. */
  say(frame) {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The first frame not yet taken that is of this type, or satisfies this predicate; waits for it. */
  async take(wanted, what = String(wanted)) {
    const fits = typeof wanted === 'string' ? (frame) => frame.type === wanted : wanted;
    const find = () => this.frames.find((frame) => !this.#taken.has(frame) && fits(frame));
    const frame = await this.until(find, () => `${what}; had ${JSON.stringify(this.frames.slice(-12))}`);
    this.#taken.add(frame);
    return frame;
  }

  /** Waits until `condition` gives something true, looked at after every frame. Fails when the connection ends before. */
  until(condition, what) {
    let waiter;
    const met = new Promise((resolve, reject) => {
      waiter = () => {
        const found = condition();
        if (found) resolve(found);
        else if (this.close_code !== undefined) reject(new Error(`closed with ${this.close_code} before ${typeof what === 'function' ? what() : what}`));
      };
      this.#waiters.add(waiter);
      waiter();
    });
    return within(met, what).finally(() => this.#waiters.delete(waiter));
  }

  /** Sends a request under a new ref and returns its answer, whatever that is. */
  ask(frame) {
    const ref = this.#next_ref++;
    this.say({ ...frame, ref });
    return this.take((f) => f.ref === ref, `the answer to ${frame.type}`);
  }

  /** As ask(), but the answer must be of this type. */
  async get(type, frame) {
    const answer = await this.ask(frame);
    assert.equal(answer.type, type, JSON.stringify(answer));
    return answer;
  }

  /** As ask(), but the answer must be this error. */
  async refused(code, frame) {
    const answer = await this.ask(frame);
    assert.equal(answer.type, 'error', JSON.stringify(answer));
    assert.equal(answer.code, code, JSON.stringify(answer));
    assert.equal(typeof answer.message, 'string');
    assert.equal(typeof answer.retryable, 'boolean');
    return answer;
  }

  /** Proves the connection alive. */
  alive() {
    return this.get('pong', { type: 'ping' });
  }

  send(conversation, text, fields = {}) {
    return this.get('ack', { type: 'send', conversation, client_msg_id: `m-${this.id}-${this.#next_ref}`, text, ...fields });
  }

  /** The item with this number of a conversation, taken or not; waits for it. */
  item(conversation, seq) {
    const find = () => this.items(conversation).find((frame) => frame.seq === seq);
    return this.until(find, () => `item ${seq} of ${conversation}; had ${JSON.stringify(this.frames.slice(-12))}`);
  }

  /** Items of a conversation in the order in which they came. */
  items(conversation) {
    return this.frames.filter((f) => (f.type === 'message' || f.type === 'event') && f.conversation === conversation);
  }

  seqs(conversation) {
    return this.items(conversation).map((item) => item.seq);
  }

  index_of(frame) {
    return this.frames.indexOf(frame);
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  /** Ends as a closed laptop does: without a close frame. */
  drop() {
    this.#socket.terminate();
  }

  close(code, reason) {
    this.#socket.close(code, reason);
  }

  end() {
    return within(this.closed, 'the end of the connection');
  }
}

export const visitor = (server, id, options) => Peer.hello(server, 'visitor', id, options);

/** An agent that is online, unless `status` says otherwise. */
export async function agent(server, id, { status = 'online', capacity, ...options } = {}) {
  const peer = await Peer.hello(server, 'agent', id, options);
  if (status) await peer.get('ok', { type: 'presence', status, capacity });
  return peer;
}

/** Opens a conversation in `group` and returns its id. */
export async function open(peer, group = 'sales', fields = {}) {
  const { conversation } = await peer.get('opened', { type: 'open', group, ...fields });
  return conversation;
}

/** A visitor and an agent in an accepted conversation. */
export async function talk(server, { visitor_id = 'v1', agent_id = 'a1', group = 'sales' } = {}) {
  const a = await agent(server, agent_id);
  const v = await visitor(server, visitor_id);
  const c = await open(v, group);
  const assigned = await a.take('assigned');
  assert.equal(assigned.conversation, c);
  await a.get('ok', { type: 'accept', conversation: c });
  const accepted = await v.take((f) => f.event === 'accepted');
  await a.item(c, accepted.seq);
  return { a, v, c, assigned, seq: accepted.seq };
}

/** 1, 2, … n */
export const up_to = (n, from = 1) => Array.from({ length: Math.max(0, n - from + 1) }, (_, i) => from + i);
