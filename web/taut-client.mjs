// The client of taut's chat protocol for browsers and Node: requests, sends that survive reconnects, resume without repeats.
//
//   const client = new TautClient({ url: 'ws://127.0.0.1:8080/v1/chat', role: 'visitor', site: 'demo', token });
//   client.addEventListener('item', ({ detail }) => show(detail));
//   client.start();
//   const { conversation } = await client.open({ group: 'sales' });
//   const ack = await client.send(conversation, 'Hello');
//
// Events (each with its content in `detail`):
//   state      {state: connecting | connected | waiting | stopped, retry_in_ms?, code?, reason?}
//   item       a `message` or an `event` of a conversation: every sequence number once and in order, one's own sends included
//              (`own: true`). Only item 1 of a conversation opened here is missing: the answer to open() stands for it.
//   gap        {conversation, epoch, from, to, reason}: drop the items from … to, they never came to be; unless reason is
//              `expired` or `missing`: they were, and will not come
//   welcome, assigned, unassigned, queue, typing, receipt, resumed and every other push: the frame as it came
//   failure    an `error` frame that answers no request
// An agent loads what precedes `assigned.seq` with history().

/** Why a request failed: `code` is an error code of the protocol, or `disconnected`, `stopped` or `outbox_full`. */
export class TautError extends Error {
  constructor(code, message, { retryable = false, retry_after_ms = undefined } = {}) {
    super(message ? `${code}: ${message}` : code);
    this.name = 'TautError';
    this.code = code;
    this.retryable = retryable;
    this.retry_after_ms = retry_after_ms;
  }
}

/** Limits and times; any of them may be overridden by the constructor's `limits`. */
export const kLimits = Object.freeze({
  outbox_max: 256, // sends not yet acknowledged; one more fails with `outbox_full`
  requests_max: 256, // other requests not yet answered
  resume_max: 64, // conversations named in one hello, the most recently followed
  backoff_base_ms: 250, // the first wait is uniform in 0 … this
  backoff_max_ms: 30_000,
  welcome_ms: 10_000, // from the first byte of the connection to `welcome`
  typing_ms: 2_000, // between two `typing` that say the same
  stable_ms: 5_000, // a connection that lived this long starts the back-off anew
});

/** What a close code asks of a client: never to come back, to come back at once, or to wait first. */
export function on_close_code(code) {
  if (code === 1000 || (code >= 4001 && code <= 4099)) return 'stop';
  if (code >= 4200 && code <= 4299) return 'at_once';
  return 'wait';
}

/** The N of `retry_after_ms=N` in a close reason; 0 where there is none. */
export function retry_after_ms(reason) {
  const found = /(?:^|[^a-z_])retry_after_ms=(\d{1,9})/.exec(reason ?? '');
  return found ? Number(found[1]) : 0;
}

const kTokenExpired = 4105;

const kSystemClock = {
  now: () => performance.now(),
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  clearTimeout: (timer) => clearTimeout(timer),
};

const kUtf8 = new TextEncoder();

/**
 * One identity's connection to one server, kept alive until stop().
 *
 * `token` is a string, or a function that returns one or a promise of one and is called before each connection.
 * `cursors` ({conversation, epoch, seq}[]) resumes what an earlier client had seen; `cursors()` returns it.
 * `WebSocket`, `clock` and `random` are injected by tests and by Node programs without a global WebSocket.
 */
export class TautClient extends EventTarget {
  #options;
  #clock;
  #random;
  #limits;
  #socket = null;
  #state = 'idle';
  #welcome = null;
  #attempt = 0; // tells the attempt that is wanted from one that was stopped
  #attempts = 0; // connections since the last stable one
  #connected_at = 0;
  #heard_at = 0; // when the last frame came
  #retry_timer = null;
  #welcome_timer = null;
  #liveness_timer = null;
  #next_ref = 1;
  #requests = new Map(); // ref → {frame, resolve, reject, sent}
  #outbox = new Map(); // client_msg_id → send; in the order of send(), the order of the wire
  #refs = new Map(); // ref of a send on this connection → client_msg_id
  #conversations = new Map(); // id → {epoch, seq, resuming, held, marks: {delivered?, read?}}
  #typing = new Map(); // id → when `on` was last told on this connection

  constructor(options) {
    super();
    this.#options = { device: random_id(), ...options };
    this.#options.WebSocket ??= globalThis.WebSocket;
    this.#clock = options.clock ?? kSystemClock;
    this.#random = options.random ?? Math.random;
    this.#limits = { ...kLimits, ...options.limits };
    for (const { conversation, epoch, seq } of options.cursors ?? []) this.#follow(conversation, epoch, seq);
  }

  get state() {
    return this.#state;
  }

  /** The last `welcome`, null before the first. */
  get welcome() {
    return this.#welcome;
  }

  /** What the application has been given so far, in the form that `cursors` of a later client takes. */
  cursors() {
    return [...this.#conversations].map(([conversation, { epoch, seq }]) => ({ conversation, epoch, seq }));
  }

  start() {
    if (this.#state === 'idle' || this.#state === 'stopped') this.#connect();
  }

  /** Closes the connection and fails everything that waits. start() begins anew, with the same cursors. */
  stop(code = 1000, reason = '') {
    this.#attempt += 1;
    this.#drop_socket(1000);
    this.#clock.clearTimeout(this.#retry_timer);
    this.#enter('stopped', { code, reason });
    const error = new TautError('stopped', reason);
    for (const request of this.#requests.values()) request.reject(error);
    for (const entry of this.#outbox.values()) entry.reject(error);
    this.#requests.clear();
    this.#outbox.clear();
  }

  /** Ends a wait for the next attempt, as when the network has come back. */
  wake() {
    if (this.#state !== 'waiting') return;
    this.#clock.clearTimeout(this.#retry_timer);
    this.#connect();
  }

  // ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────────────
  // Each returns a promise of the answer. A request made while disconnected waits for the next `welcome`; one whose
  // connection breaks before its answer fails with `disconnected`, retryable.

  open({ group, conversation, subject, attributes } = {}) {
    return this.#request({ type: 'open', group, conversation, subject, attributes });
  }

  history(conversation, { before, limit } = {}) {
    return this.#request({ type: 'history', conversation, before, limit });
  }

  presence(status, { capacity } = {}) {
    return this.#request({ type: 'presence', status, capacity });
  }

  accept(conversation) {
    return this.#request({ type: 'accept', conversation });
  }

  decline(conversation) {
    return this.#request({ type: 'decline', conversation });
  }

  close(conversation, reason) {
    return this.#request({ type: 'close', conversation, reason });
  }

  /** A visitor rates a closed conversation: `rating` 1 … 5, and a text if it likes. */
  rate(conversation, rating, text) {
    return this.#request({ type: 'rate', conversation, rating, text });
  }

  /** The owner sends the visitor away for a time, a day unless said. */
  block(conversation, { seconds } = {}) {
    return this.#request({ type: 'block', conversation, seconds });
  }

  /** The canned replies of the agent's groups. */
  replies() {
    return this.#request({ type: 'replies' });
  }

  /** An agent takes what waits, or what nobody has accepted yet, of its groups. */
  take(conversation) {
    return this.#request({ type: 'take', conversation });
  }

  /** An agent gives away what it owns: `to` is {agent} or {group}. */
  transfer(conversation, to) {
    return this.#request({ type: 'transfer', conversation, to });
  }

  /** A page of the agent's unclosed conversations; go on with the answer's `cursor` as long as there is one. */
  list(scope, { cursor } = {}) {
    return this.#request({ type: 'list', scope, cursor });
  }

  ping() {
    return this.#request({ type: 'ping' });
  }

  /**
   * Sends a text; resolves with its `ack`. Repeated under the same client_msg_id on every new connection until the server has
   * answered, so it is stored once however often the link breaks. `level: 'durable'` waits for the durable ack where the
   * server's mode has one.
   */
  send(conversation, text, { kind, client_msg_id = random_id(), level = 'accepted' } = {}) {
    if (this.#state === 'stopped') return Promise.reject(new TautError('stopped'));
    if (this.#outbox.size >= this.#limits.outbox_max) return Promise.reject(new TautError('outbox_full', '', { retryable: true }));
    if (this.#outbox.has(client_msg_id)) return Promise.reject(new TautError('id_conflict', 'already in the outbox'));
    return new Promise((resolve, reject) => {
      this.#outbox.set(client_msg_id, { conversation, client_msg_id, text, kind, level, sent: false, resolve, reject });
      this.#flush_outbox();
    });
  }

  // ── Signals: no answer, nothing to wait for ───────────────────────────────────────────────────────────────────────

  /**
   * Tells the other side that this one is writing, or has stopped. Call it with every keystroke: what is repeated within
   * typing_ms is not sent again. Without a connection it is forgotten; the server says `off` for whoever goes away.
   */
  typing(conversation, on) {
    if (this.#state !== 'connected') return;
    const now = this.#clock.now();
    const last = this.#typing.get(conversation);
    if (on ? last !== undefined && now - last < this.#limits.typing_ms : last === undefined) return;
    if (on) this.#typing.set(conversation, now);
    else this.#typing.delete(conversation);
    this.#write({ type: 'typing', conversation, on });
  }

  /** Everything up to `seq` has arrived here. The highest mark is told, now or after the next `welcome`. */
  delivered(conversation, seq) {
    this.#mark('delivered', conversation, seq);
  }

  /** … has been read. */
  read(conversation, seq) {
    this.#mark('read', conversation, seq);
  }

  #mark(type, conversation, seq) {
    const cursor = this.#conversations.get(conversation);
    if (!cursor || seq <= (cursor.marks[type] ?? 0)) return;
    cursor.marks[type] = seq;
    if (this.#state === 'connected' && !cursor.resuming) this.#write({ type, conversation, seq });
  }

  // A mark that was written into a link that broke may not have arrived; telling it twice changes nothing.
  #repeat_marks(conversation, { marks }) {
    for (const [type, seq] of Object.entries(marks)) this.#write({ type, conversation, seq });
  }

  #request(frame) {
    if (this.#state === 'stopped') return Promise.reject(new TautError('stopped'));
    if (this.#requests.size >= this.#limits.requests_max) return Promise.reject(new TautError('outbox_full', '', { retryable: true }));
    return new Promise((resolve, reject) => {
      const ref = this.#take_ref();
      this.#requests.set(ref, { frame: { ...frame, ref }, resolve, reject, sent: false });
      this.#flush_requests();
    });
  }

  #take_ref() {
    const ref = this.#next_ref;
    this.#next_ref = ref >= 0xffff_ffff ? 1 : ref + 1;
    return ref;
  }

  #flush_requests() {
    if (this.#state !== 'connected') return;
    for (const request of this.#requests.values()) {
      if (request.sent) continue;
      request.sent = true;
      this.#write(request.frame);
    }
  }

  // A conversation that is still being resumed keeps its sends back: its missed items, perhaps its `closed`, come first.
  #flush_outbox() {
    if (this.#state !== 'connected') return;
    for (const entry of this.#outbox.values()) {
      if (entry.sent || this.#conversations.get(entry.conversation)?.resuming) continue;
      if (this.#refs.size >= this.#welcome.max_inflight) return;
      const { conversation, client_msg_id, text, kind } = entry;
      if (kUtf8.encode(text).length > this.#welcome.max_text_bytes) {
        this.#outbox.delete(client_msg_id);
        entry.reject(new TautError('too_large', `a text has at most ${this.#welcome.max_text_bytes} bytes`));
        continue;
      }
      const ref = this.#take_ref();
      entry.sent = true;
      this.#refs.set(ref, client_msg_id);
      this.#write({ type: 'send', ref, conversation, client_msg_id, text, kind });
    }
  }

  #write(frame) {
    this.#socket.send(JSON.stringify(frame));
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────────────────────────

  async #connect() {
    const attempt = ++this.#attempt;
    this.#enter('connecting');
    const { url, WebSocket, token } = this.#options;
    let socket;
    try {
      const secret = typeof token === 'function' ? await token() : token;
      if (attempt !== this.#attempt) return; // stopped while the token was fetched
      socket = new WebSocket(url, ['taut.v1.json']);
      socket.onopen = () => socket.send(JSON.stringify(this.#hello(secret)));
    } catch (error) {
      if (attempt === this.#attempt) this.#lost(1006, String(error?.message ?? error));
      return;
    }
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code, reason }) => this.#lost(code, reason);
    socket.onerror = () => {}; // a `close` event follows and says what can be said
    this.#welcome_timer = this.#clock.setTimeout(() => this.#lost(1006, 'no welcome'), this.#limits.welcome_ms);
  }

  #hello(token) {
    const { role, site, device, name } = this.#options;
    // What is not named is forgotten, so that a later push of it starts anew instead of leaving a hole.
    const excess = this.#conversations.size - this.#limits.resume_max;
    for (const conversation of [...this.#conversations.keys()].slice(0, Math.max(0, excess))) this.#conversations.delete(conversation);
    for (const cursor of this.#conversations.values()) {
      cursor.resuming = true;
      cursor.held.clear(); // they will be among the missed items
    }
    const resume = this.cursors();
    return { type: 'hello', version: 1, role, site, token, device, name, resume };
  }

  #enter(state, detail = {}) {
    this.#state = state;
    this.#emit('state', { state, ...detail });
  }

  #emit(type, detail) {
    this.dispatchEvent(new ClientEvent(type, detail));
  }

  // Lets go of the socket at once: on a dead link the browser's own `close` event may be minutes away.
  #drop_socket(code) {
    this.#clock.clearTimeout(this.#welcome_timer);
    this.#clock.clearTimeout(this.#liveness_timer);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    try {
      socket.close(code);
    } catch {
      // already closed, or never opened
    }
  }

  #lost(code, reason) {
    const lived_ms = this.#state === 'connected' ? this.#clock.now() - this.#connected_at : 0;
    this.#drop_socket(3000);
    this.#forget_connection();
    const what = on_close_code(code);
    // An expired token that cannot be renewed would expire again.
    if (what === 'stop' || (code === kTokenExpired && typeof this.#options.token !== 'function')) {
      this.stop(code, reason);
      return;
    }
    if (lived_ms >= this.#limits.stable_ms) this.#attempts = 0;
    const retry_in_ms = this.#delay_ms(what, reason);
    this.#attempts += 1;
    // The timer comes first: a listener of `state` may call stop() or wake().
    this.#retry_timer = this.#clock.setTimeout(() => this.#connect(), retry_in_ms);
    this.#enter('waiting', { retry_in_ms, code, reason });
  }

  // Full jitter on an exponential ceiling, on top of what the server asked for. "At once" holds for the first attempt only.
  #delay_ms(what, reason) {
    const asked_ms = retry_after_ms(reason);
    if (what === 'at_once' && this.#attempts === 0) return asked_ms;
    const { backoff_base_ms, backoff_max_ms } = this.#limits;
    const ceiling_ms = Math.min(backoff_max_ms, backoff_base_ms * 2 ** Math.min(this.#attempts, 30));
    return asked_ms + Math.floor(this.#random() * ceiling_ms);
  }

  #forget_connection() {
    this.#refs.clear();
    this.#typing.clear();
    for (const entry of this.#outbox.values()) entry.sent = false;
    for (const [ref, request] of this.#requests) {
      if (!request.sent) continue;
      this.#requests.delete(ref);
      request.reject(new TautError('disconnected', '', { retryable: true }));
    }
  }

  // A browser answers the server's pings out of our sight, so silence is judged here: after ping_ms without a frame we ask,
  // and half of that later without an answer the link is dead.
  #watch_liveness() {
    const { ping_ms } = this.#welcome;
    const check = () => {
      const silent_ms = this.#clock.now() - this.#heard_at;
      if (silent_ms >= 1.5 * ping_ms) return this.#lost(1006, 'the server has gone silent');
      if (silent_ms >= ping_ms) this.#write({ type: 'ping', ref: this.#take_ref() });
      const next_ms = silent_ms >= ping_ms ? 1.5 * ping_ms - silent_ms : ping_ms - silent_ms;
      this.#liveness_timer = this.#clock.setTimeout(check, Math.max(1, next_ms));
    };
    this.#liveness_timer = this.#clock.setTimeout(check, ping_ms);
  }

  // ── What the server says ──────────────────────────────────────────────────────────────────────────────────────────

  #receive(data) {
    this.#heard_at = this.#clock.now();
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      this.#lost(1006, 'a frame that is not JSON');
      return;
    }
    switch (frame.type) {
      case 'welcome':
        return this.#on_welcome(frame);
      case 'message':
      case 'event':
        return this.#on_item(frame);
      case 'ack':
        return this.#on_ack(frame);
      case 'opened':
        if (!this.#conversations.has(frame.conversation)) this.#follow(frame.conversation, frame.epoch, frame.seq);
        return this.#on_answer(frame);
      case 'ok':
      case 'pong':
      case 'list':
      case 'replies':
      case 'history':
        return this.#on_answer(frame);
      case 'error':
        return this.#on_error(frame);
      case 'assigned':
        return this.#on_assigned(frame);
      case 'unassigned':
        return this.#on_unassigned(frame);
      case 'gap':
        return this.#on_gap(frame);
      case 'resumed':
        return this.#on_resumed(frame);
      default:
        return this.#emit(String(frame.type), frame);
    }
  }

  #on_welcome(frame) {
    this.#clock.clearTimeout(this.#welcome_timer);
    this.#welcome = frame;
    this.#connected_at = this.#clock.now();
    this.#watch_liveness();
    this.#enter('connected');
    this.#emit('welcome', frame);
    this.#flush_requests();
    this.#flush_outbox();
  }

  #on_answer(frame) {
    const request = this.#requests.get(frame.ref);
    this.#requests.delete(frame.ref);
    request?.resolve(frame);
  }

  #on_error(frame) {
    const error = new TautError(frame.code, frame.message, frame);
    const entry = this.#outbox.get(this.#refs.get(frame.ref));
    const waiting = entry ?? this.#requests.get(frame.ref);
    if (!waiting) return this.#emit('failure', frame);
    this.#refs.delete(frame.ref);
    this.#requests.delete(frame.ref);
    if (entry) this.#outbox.delete(entry.client_msg_id);
    waiting.reject(error);
    this.#flush_outbox();
  }

  // The server does not push a message back on the connection that sent it: its ack stands for the item. A repeated ack's item
  // has come already, from the first ack or among the missed items.
  #on_ack(frame) {
    this.#refs.delete(frame.ref);
    this.#emit('ack', frame);
    const entry = this.#outbox.get(frame.client_msg_id);
    if (!entry) return;
    const { conversation, client_msg_id, epoch, seq, ts } = frame;
    const { role, name } = this.#options;
    // An agent's note to a conversation it does not own is acked, and nothing else of that conversation ever comes.
    if (role === 'visitor' || this.#conversations.has(conversation)) {
      const from = { kind: role, id: this.#welcome.id, name };
      const { kind = 'text', text } = entry;
      this.#on_own_item({ type: 'message', conversation, epoch, seq, from, client_msg_id, kind, text, ts });
    }
    if (entry.level === 'accepted' || frame.level === 'durable' || this.#welcome.mode === 'none') {
      this.#outbox.delete(frame.client_msg_id);
      entry.resolve(frame);
    }
    this.#flush_outbox();
  }

  // ── Conversations: the cursor of each is the last item that the application has been given ────────────────────────

  #follow(conversation, epoch, seq) {
    const cursor = { epoch, seq, resuming: false, held: new Map(), marks: {} };
    this.#conversations.set(conversation, cursor);
    return cursor;
  }

  // An ack may be ahead of the pushes: an answer precedes what its request caused, as the `accepted` before an agent's first
  // text. Such an item is held until its turn.
  #on_own_item(item) {
    const cursor = this.#conversations.get(item.conversation);
    if (cursor && item.seq > cursor.seq + 1) cursor.held.set(item.seq, item);
    else this.#on_item(item);
  }

  #on_item(item) {
    const { conversation, epoch, seq } = item;
    const cursor = this.#conversations.get(conversation) ?? this.#follow(conversation, epoch, seq - 1);
    if (seq <= cursor.seq) return; // given already
    if (seq > cursor.seq + 1) this.#missing(conversation, epoch, cursor.seq + 1, seq - 1);
    cursor.epoch = epoch;
    cursor.seq = seq;
    const own = item.from?.kind === this.#options.role && item.from?.id === this.#welcome.id;
    cursor.held.delete(seq);
    this.#emit('item', own ? { ...item, own } : item);
    const next = cursor.held.get(cursor.seq + 1);
    if (next) this.#on_item(next);
  }

  // The protocol has no holes. Should there be one all the same, the application is told and can ask for history.
  #missing(conversation, epoch, from, to) {
    this.#emit('gap', { type: 'gap', conversation, epoch, from, to, reason: 'missing' });
  }

  // A conversation named in this connection's resume gets everything after its cursor; any other starts behind `assigned`.
  #on_assigned(frame) {
    const { conversation, epoch, seq } = frame;
    if (!this.#conversations.get(conversation)?.resuming) this.#follow(conversation, epoch, seq);
    this.#emit('assigned', frame);
  }

  #on_unassigned(frame) {
    this.#conversations.delete(frame.conversation);
    this.#emit('unassigned', frame);
    this.#flush_outbox();
  }

  #on_gap(frame) {
    const cursor = this.#conversations.get(frame.conversation);
    if (frame.reason === 'no_such_conversation') this.#conversations.delete(frame.conversation);
    else if (cursor) {
      cursor.seq = frame.reason === 'expired' ? frame.to : frame.from - 1;
      // What never came to be cannot have been read.
      for (const [type, seq] of Object.entries(cursor.marks)) cursor.marks[type] = Math.min(seq, cursor.seq);
    }
    this.#emit('gap', frame);
    this.#flush_outbox();
  }

  #on_resumed(frame) {
    const { conversation, epoch, seq } = frame;
    const cursor = this.#conversations.get(conversation);
    if (cursor) {
      if (seq > cursor.seq) this.#missing(conversation, epoch, cursor.seq + 1, seq);
      Object.assign(cursor, { epoch, seq, resuming: false });
      this.#repeat_marks(conversation, cursor);
    }
    this.#emit('resumed', frame);
    this.#flush_outbox();
  }
}

// CustomEvent, which Node 18 does not have.
class ClientEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
  }
}

// Ids must differ and need not be secret: Node 18 has no global crypto.
function random_id() {
  const bytes = globalThis.crypto?.getRandomValues(new Uint8Array(12)) ?? Uint8Array.from({ length: 12 }, () => Math.random() * 256);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
