// A WebSocket client made of bytes, for frames that no library would send.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { within } from './server.mjs';

export const kText = 1;
export const kBinary = 2;
export const kClose = 8;
export const kPing = 9;
export const kPong = 10;

/** The bytes of one client frame. `mask: false` and `rsv` make wrong ones. */
export function frame(opcode, payload, { fin = true, mask = true, rsv = 0 } = {}) {
  const body = Buffer.from(payload);
  const length = body.length < 126 ? Buffer.from([body.length]) : Buffer.alloc(body.length < 65536 ? 3 : 9);
  if (length.length === 3) {
    length[0] = 126;
    length.writeUInt16BE(body.length, 1);
  } else if (length.length === 9) {
    length[0] = 127;
    length.writeBigUInt64BE(BigInt(body.length), 1);
  }
  const first = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode]);
  if (!mask) return Buffer.concat([first, length, body]);
  length[0] |= 0x80;
  const key = randomBytes(4);
  for (let i = 0; i < body.length; i++) body[i] ^= key[i % 4];
  return Buffer.concat([first, length, key, body]);
}

export const text = (value) => frame(kText, typeof value === 'string' ? value : JSON.stringify(value));

/** The payload of a close frame. */
export function close_payload(code, reason = '') {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(reason)]);
}

/** The object in a text frame as received. */
export function object_of({ deflated, payload }) {
  if (!deflated) return JSON.parse(payload.toString());
  const flushed = Buffer.concat([payload, Buffer.from([0, 0, 0xff, 0xff])]);
  return JSON.parse(inflateRawSync(flushed, { finishFlush: constants.Z_SYNC_FLUSH }).toString());
}

export const kHandshake =
  'GET /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: taut.v1.json\r\n\r\n';

/** The same for a client that offers to compress. */
export const offering = (offers) => kHandshake.replace(/\r\n$/, `Sec-WebSocket-Extensions: ${offers}\r\n\r\n`);
export const kOffer = offering('permessage-deflate; client_max_window_bits');

export const kDeflated = 4; // RSV1

/** What permessage-deflate makes of a message, by a client that forgets each. */
export function deflate(bytes, options = {}) {
  const flushed = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, ...options });
  return flushed.subarray(0, flushed.length - 4);
}

export const deflated = (value, options) => frame(kText, deflate(typeof value === 'string' ? value : JSON.stringify(value), options), { rsv: kDeflated });

export class RawSocket {
  frames = []; // {opcode, fin, deflated, payload} as received
  head = null; // the answer to the handshake
  #bytes = Buffer.alloc(0);
  #waiters = new Set();

  /** Connects and writes `first`, by default a handshake that is then waited for. */
  static async open(server, first = kHandshake) {
    const raw = new RawSocket();
    raw.socket = connect(server.port, '127.0.0.1').setNoDelay(true);
    server.peers.push(raw);
    raw.socket.on('data', (bytes) => raw.#on_data(bytes));
    raw.socket.on('error', () => {});
    raw.ended = new Promise((resolve) => {
      raw.socket.on('close', () => {
        raw.is_over = true;
        for (const waiter of raw.#waiters) waiter();
        resolve();
      });
    });
    raw.write(first);
    await raw.#until(() => raw.head, 'the answer to the handshake');
    return raw;
  }

  /** Opens and says hello. */
  static async hello(server, role, id, handshake = kHandshake) {
    const raw = await RawSocket.open(server, handshake);
    raw.write(text(hello_of(server, role, id)));
    await raw.json((f) => f.type === 'welcome');
    return raw;
  }

  write(bytes) {
    this.socket.write(bytes);
  }

  /** The first frame received that satisfies `fits`. */
  take(fits, what) {
    return this.#until(() => {
      const at = this.frames.findIndex(fits);
      return at < 0 ? undefined : this.frames.splice(at, 1)[0];
    }, what);
  }

  /** The first text frame whose object satisfies `fits`. */
  async json(fits) {
    return object_of(await this.take((f) => f.opcode === kText && fits(object_of(f)), `a frame with ${fits}`));
  }

  /** The code with which the server closes. */
  async close_code() {
    const { payload } = await this.take((f) => f.opcode === kClose, 'the close frame');
    return payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
  }

  drop() {
    this.socket.destroy();
  }

  #until(condition, what) {
    let waiter;
    const met = new Promise((resolve, reject) => {
      waiter = () => {
        const found = condition();
        if (found !== undefined && found !== null) resolve(found);
        else if (this.is_over) reject(new Error(`the connection ended before ${what}`));
      };
      this.#waiters.add(waiter);
      waiter();
    });
    return within(met, what).finally(() => this.#waiters.delete(waiter));
  }

  #on_data(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (this.head === null) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.#bytes.subarray(0, end).toString();
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    while (this.#parse_frame());
    for (const waiter of this.#waiters) waiter();
  }

  // Servers do not mask.
  #parse_frame() {
    const bytes = this.#bytes;
    if (bytes.length < 2) return false;
    const short = bytes[1] & 0x7f;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (bytes.length < start) return false;
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < start + length) return false;
    const deflated = (bytes[0] & 0x40) !== 0;
    this.frames.push({ opcode: bytes[0] & 15, fin: (bytes[0] & 0x80) !== 0, deflated, payload: bytes.subarray(start, start + length) });
    this.#bytes = bytes.subarray(start + length);
    return true;
  }
}

export function hello_of(server, role, id, fields = {}) {
  return { type: 'hello', version: 1, role, site: 'demo', token: server.token(role, id), device: 'raw', ...fields };
}
