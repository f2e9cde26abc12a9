// A scripted WebSocket and a clock that moves only when told, for tests of the client without a network or waiting.

/** Time that stands still until advance(); its timers fire in order, on the caller's stack. */
export class FakeClock {
  #now = 0;
  #timers = new Map();
  #next = 1;

  now = () => this.#now;

  setTimeout = (fn, ms) => {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + ms, fn });
    return id;
  };

  clearTimeout = (id) => this.#timers.delete(id);

  /** Moves on by `ms`, fires what falls due, and lets promises settle in between. */
  async advance(ms) {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.#now = due[1].at;
      due[1].fn();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets every promise that can settle do so. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A network: each `new WebSocket()` of the client appears in `sockets`, and the test plays the server. */
export class FakeNetwork {
  sockets = [];

  constructor() {
    const network = this;
    this.WebSocket = class FakeSocket {
      sent = [];
      closed_with = null;

      constructor(url, protocols) {
        this.url = url;
        this.protocols = protocols;
        network.sockets.push(this);
      }

      send(text) {
        this.sent.push(JSON.parse(text));
      }

      close(code) {
        this.closed_with ??= code;
      }

      /** The server accepts, and hears the hello. */
      open() {
        this.onopen({});
        return this.sent[0];
      }

      push(frame) {
        this.onmessage({ data: JSON.stringify(frame) });
      }

      welcome(fields = {}) {
        this.open();
        this.push({
          type: 'welcome',
          id: 'v1',
          role: 'visitor',
          mode: 'none',
          ping_ms: 25000,
          max_text_bytes: 16384,
          max_inflight: 1024,
          server_time: 1,
          ...fields,
        });
      }

      /** The connection ends, seen from the client. */
      drop(code = 1006, reason = '') {
        this.onclose?.({ code, reason });
      }

      /** Frames that the client sent, of one type. */
      of(type) {
        return this.sent.filter((frame) => frame.type === type);
      }
    };
  }

  get last() {
    return this.sockets.at(-1);
  }
}
