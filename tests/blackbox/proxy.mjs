// A TCP proxy on loopback that misbehaves on demand: cuts idle links, loses one direction, or cuts everything.
import { connect, createServer } from 'node:net';

export class Proxy {
  #server;
  #links = new Set();
  cuts = 0; // links ended because they were idle
  server_ended = 0; // links that the server ended
  deaf = false; // nothing from the server reaches the clients

  static async start(port, { idle_ms = 0 } = {}) {
    const proxy = new Proxy();
    proxy.#server = createServer((client) => proxy.#link(client, connect(port, '127.0.0.1'), idle_ms));
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    proxy.port = proxy.#server.address().port;
    return proxy;
  }

  #link(client, upstream, idle_ms) {
    const link = { client, upstream };
    this.#links.add(link);
    let active = Date.now();
    const end = () => {
      clearInterval(timer);
      client.destroy();
      upstream.destroy();
      this.#links.delete(link);
    };
    // A stall of this process delays the bytes as well: what has arrived by now is let through before idleness is judged.
    const judge = () => {
      if (Date.now() - active < idle_ms) return;
      this.cuts += 1;
      end();
    };
    const timer = idle_ms ? setInterval(() => setTimeout(judge, 20), idle_ms / 4) : undefined;
    client.on('data', (bytes) => {
      active = Date.now();
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      active = Date.now();
      if (!this.deaf) client.write(bytes);
    });
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', end);
    client.on('close', end);
    upstream.on('close', () => {
      this.server_ended += 1;
      end();
    });
  }

  /** Ends every link without a word. */
  cut() {
    for (const { client, upstream } of this.#links) {
      client.destroy();
      upstream.destroy();
    }
  }

  stop() {
    this.cut();
    this.#server.close();
  }
}
