// The compact carrier from a client's side: objects as netstrings and back, and the connection under a Peer.
import { connect } from 'node:net';
import { connect as connect_tls } from 'node:tls';

const kClientTypes = ['hello', 'open', 'send', 'typing', 'delivered', 'read', 'history', 'presence', 'accept', 'decline', 'take', 'transfer', 'close', 'list', 'ping', 'rate', 'replies', 'block'];
const kServerTypes = ['welcome', 'opened', 'ack', 'message', 'event', 'assigned', 'unassigned', 'queue', 'typing', 'receipt', 'history', 'list', 'resumed', 'gap', 'ok', 'pong', 'error', 'bye', 'replies'];
const kFirstServerType = 32;
const kUnknownType = 99;
const kPing = 15;
const kPong = 47;

export const netstring = (body) => Buffer.concat([Buffer.from(`${Buffer.byteLength(body)}:`), Buffer.from(body), Buffer.from(',')]);

/** The body of a request that is given as on a WebSocket. */
export function body_of({ type, conversation = '', ...rest }) {
  const number = kClientTypes.indexOf(type) + 1 || kUnknownType;
  if (type !== 'send') return `${number}:${conversation}:${JSON.stringify(rest)}`;
  const { client_msg_id = '', ref = 0, kind, text } = rest;
  return `${number}:${conversation}:${client_msg_id} ${ref}${kind ? ` ${kind}` : ''}${text === undefined ? '' : `\n${text}`}`;
}

/** Takes whole netstrings from the front of `bytes`: their bodies, and what is left. */
export function bodies_of(bytes) {
  const bodies = [];
  for (;;) {
    const colon = bytes.indexOf(':');
    if (colon < 0) return { bodies, rest: bytes };
    const end = colon + 1 + Number(bytes.toString('latin1', 0, colon));
    if (bytes.length <= end) return { bodies, rest: bytes };
    if (bytes[end] !== ','.charCodeAt(0)) throw new Error(`no netstring: ${bytes.toString('latin1', 0, 80)}`);
    bodies.push(bytes.toString('utf8', colon + 1, end));
    bytes = bytes.subarray(end + 1);
  }
}

/** What the server says in a body, as the object that it says on a WebSocket. */
export function object_of(body) {
  const [, type, conversation, payload] = /^(\d+):([^:]*):(.*)$/s.exec(body);
  const name = Number(type) === kPing ? 'ping' : kServerTypes[Number(type) - kFirstServerType];
  return { type: name, ...(conversation && { conversation }), ...JSON.parse(payload) };
}

/** A connection under a Peer: `on_object` gets everything but pings, which are answered if `pong`, and the bye. */
export class CompactConnection {
  #socket;
  #bytes = Buffer.alloc(0);
  #bye = { code: 1006, reason: '' };

  constructor(server, { via = server.compact_port, pong = true }, on_object) {
    const options = { port: via, host: '127.0.0.1', rejectUnauthorized: false };
    this.#socket = server.secure ? connect_tls(options) : connect(options);
    this.#socket.setNoDelay(true);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.on(server.secure ? 'secureConnect' : 'connect', resolve).on('error', reject);
    });
    this.closed = new Promise((resolve) => this.#socket.on('close', () => resolve(this.#bye)));
    this.#socket.on('data', (bytes) => {
      const { bodies, rest } = bodies_of(Buffer.concat([this.#bytes, bytes]));
      this.#bytes = rest;
      for (const object of bodies.map(object_of)) {
        if (object.type === 'bye') this.#bye = object;
        else if (object.type !== 'ping') on_object(object);
        else if (pong) this.send(`${kPong}::{"ref":${object.ref}}`);
      }
    });
  }

  /** An object, or a body as it is. */
  send(frame) {
    this.#socket.write(netstring(typeof frame === 'string' ? frame : body_of(frame)));
  }

  pause() {
    this.#socket.pause();
  }

  resume() {
    this.#socket.resume();
  }

  terminate() {
    this.#socket.destroy();
  }

  close() {
    this.#socket.end();
  }
}
