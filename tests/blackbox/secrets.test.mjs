// What the server keeps of the tokens that it was shown: nothing, in none of its memory.
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { up_to, visitor } from './peer.mjs';
import { deflated, hello_of, kHandshake, kOffer, RawSocket, text } from './raw_socket.mjs';
import { kSlowness, scenario_on_shards } from './server.mjs';

const kRegionMax = 256 << 20; // larger ones are a sanitizer's shadow

/** How often each of `needles` stands in the writable memory of the process. */
function found_in_memory(pid, needles) {
  const counts = needles.map(() => 0);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const region = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line);
    if (!region) continue;
    const [from, to] = [BigInt(`0x${region[1]}`), BigInt(`0x${region[2]}`)];
    if (to - from > kRegionMax) continue;
    const bytes = Buffer.alloc(Number(to - from));
    try {
      readSync(memory, bytes, 0, bytes.length, from);
    } catch {
      continue; // a region of the kernel's
    }
    needles.forEach((needle, i) => {
      for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) counts[i]++;
    });
  }
  closeSync(memory);
  return counts;
}

/** The last part of a token: as good as the whole, and in no other. */
const signature_of = (hello) => hello.token.split('.')[2];

const kStored = { level: 0 }; // compressed in name alone: the token stands in it as it is

async function show_tokens(server, handshake, encode) {
  const marker = `still-open-${server.pid}`;
  await visitor(server, marker); // first: what is read later would lie over the last token
  const signatures = [];
  const peers = [];
  for (const i of up_to(8)) {
    // Some in one piece, some in two, so that one half waits in the pool.
    const raw = await RawSocket.open(server, handshake);
    const hello = hello_of(server, 'visitor', `v${i}`);
    signatures.push(signature_of(hello));
    const bytes = encode(hello);
    const cut = i % 2 ? bytes.length : bytes.length - 20;
    raw.write(bytes.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 20 * kSlowness));
    raw.write(bytes.subarray(cut));
    await raw.json((f) => f.type === 'welcome');
    peers.push(raw);
  }
  const counts = found_in_memory(server.pid, [marker, ...signatures]);
  assert.ok(counts[0] > 0, 'what is kept would be found');
  assert.deepEqual(counts.slice(1), signatures.map(() => 0));
  for (const peer of peers) peer.drop();
}

const kFlags = ['--pool-base-bytes', '4MiB'];
scenario_on_shards('tokens are nowhere in memory once they have been looked at', kFlags, (server) => show_tokens(server, kHandshake, text));
scenario_on_shards('… nor those in compressed hellos', [...kFlags, '--deflate'], (server) => show_tokens(server, kOffer, (hello) => deflated(hello, kStored)));
