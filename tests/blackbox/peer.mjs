// One connection that speaks the protocol frame by frame, and remembers everything it was told.
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { CompactConnection } from './compact_peer.mjs';
import { kCarrier, within } from './server.mjs';

let next_device = 1;

/** A WebSocket under a Peer: `on_object` gets every object. */
class WebSocketConnection {
  #socket;

  constructor(server, { via = server.port, path = '/v1/chat', headers = {}, pong = true, deflate = false }, on_object) {
    const url = `${server.secure ? 'wss' : 'ws'}://127.0.0.1:${via}${path}`;
    const options = { perMessageDeflate: deflate, headers, autoPong: pong, rejectUnauthorized: false };
    this.#socket = new WebSocket(url, ['taut.v1.json'], options);
    this.#socket.on('message', (data) => on_object(JSON.parse(data.toString())));
    this.opened = new Promise((resolve, reject) => this.#socket.on('open', resolve).on('error', reject));
    this.closed = new Promise((resolve) => this.#socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })));
  }

  /** An object, or a text as it is. */
  send(frame) {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  terminate() {
    this.#socket.terminate();
  }

  close(code, reason) {
    this.#socket.close(code, reason);
  }
}

export class Peer {
  frames = []; // everything received, in order
  #taken = new Set(); // frames that take() gave out
  #waiters = new Set();
  #next_ref = 1;
  #connection;

  /** Opens the connection; no hello yet. `via` is another port on loopback, as of a proxy. */
  static async open(server, { carrier = kCarrier, ...options } = {}) {
    const peer = new Peer();
    server.peers.push(peer);
    const Connection = carrier === 'compact' ? CompactConnection : WebSocketConnection;
    peer.#connection = new Connection(server, options, (object) => peer.#on_frame(object));
    peer.closed = peer.#connection.closed.then((how) => {
      peer.close_code = how.code;
      peer.#wake();
      return how;
    });
    await within(peer.#connection.opened, 'the connection');
    return peer;
  }

  /** Opens, says hello and waits for `welcome`. `resume` as in the protocol; `claims` go into the token; `deflate` is what `ws` calls
   *  perMessageDeflate. */
  static async hello(server, role, id, { claims, via, path, headers, carrier, deflate, ...fields } = {}) {
    const peer = await Peer.open(server, { via, path, headers, carrier, deflate });
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
    this.#connection.send(frame);
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
    this.#connection.pause();
  }

  resume() {
    this.#connection.resume();
  }

  /** Ends as a closed laptop does: without a close frame. */
  drop() {
    this.#connection.terminate();
  }

  close(code, reason) {
    this.#connection.close(code, reason);
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
export async function talk(server, { visitor_id = 'v1', agent_id = 'a1', group = 'sales', of_visitor, of_agent } = {}) {
  const a = await agent(server, agent_id, of_agent);
  const v = await visitor(server, visitor_id, of_visitor);
  const c = await open(v, group);
  const assigned = await a.take('assigned');
  assert.equal(assigned.conversation, c);
  await a.get('ok', { type: 'accept', conversation: c });
  const accepted = await v.take((f) => f.event === 'accepted');
  await a.item(c, accepted.seq);
  return { a, v, c, assigned, seq: accepted.seq };
}

/** Is it the ack that says that what was sent under this ref is on the disk? */
export const is_durable = (ref) => (frame) => frame.type === 'ack' && frame.level === 'durable' && frame.ref === ref;

/** 1, 2, … n */
export const up_to = (n, from = 1) => Array.from({ length: Math.max(0, n - from + 1) }, (_, i) => from + i);
