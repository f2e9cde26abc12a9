// How long messages take from one side to the other, within a page and between windows of one browser.

const kSamplesMax = 1000; // the quantiles are of the last so many
const kSparkMax = 120; // points of the sparkline
const kUnmatchedMax = 2000; // sends and arrivals whose other half has not come

/** Milliseconds on a clock that all windows of this browser share. */
export const now_ms = () => performance.timeOrigin + performance.now();

export const format_ms = (ms) => (ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`);

/** The q-quantile, 0 … 1, of numbers that are not empty. */
export function quantile(numbers, q) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** Pairs each send with its arrival by client_msg_id. The two may be in different windows: send times are broadcast. */
export class LatencyMeter {
  #sends = new Map();
  #arrivals = new Map();
  #samples = [];
  #count = 0;
  #channel = new BroadcastChannel('taut-demo');
  #changed;

  constructor(changed) {
    this.#changed = changed;
    this.#channel.onmessage = ({ data }) => this.#keep_send(data.id, data.at);
  }

  sent(id) {
    const at = now_ms();
    this.#keep_send(id, at);
    this.#channel.postMessage({ id, at });
  }

  /** Returns the milliseconds if the send is known by now, else undefined. */
  arrived(id) {
    const at = now_ms();
    if (this.#sends.has(id)) return this.#sample(id, at - this.#sends.get(id));
    remember(this.#arrivals, id, at);
    return undefined;
  }

  figures() {
    const { length } = this.#samples;
    if (length === 0) return { count: 0 };
    return { count: this.#count, last: this.#samples[length - 1], p50: quantile(this.#samples, 0.5), p99: quantile(this.#samples, 0.99) };
  }

  recent() {
    return this.#samples.slice(-kSparkMax);
  }

  #keep_send(id, at) {
    if (this.#arrivals.has(id)) this.#sample(id, this.#arrivals.get(id) - at);
    else remember(this.#sends, id, at);
  }

  #sample(id, ms) {
    this.#sends.delete(id);
    this.#arrivals.delete(id);
    this.#samples.push(Math.max(0, ms));
    if (this.#samples.length > kSamplesMax) this.#samples.shift();
    this.#count += 1;
    this.#changed();
    return ms;
  }
}

function remember(map, id, at) {
  map.set(id, at);
  if (map.size > kUnmatchedMax) map.delete(map.keys().next().value);
}

/** Writes the meter's figures and sparkline into the page, at most once per frame. */
export function show_latency(page) {
  let drawn = true;
  const meter = new LatencyMeter(() => {
    if (!drawn) return;
    drawn = false;
    requestAnimationFrame(() => {
      drawn = true;
      draw(page, meter);
    });
  });
  return meter;
}

function draw(page, meter) {
  const { count, last, p50, p99 } = meter.figures();
  page.getElementById('latency-count').textContent = String(count);
  if (count === 0) return;
  page.getElementById('latency-p50').textContent = format_ms(p50);
  page.getElementById('latency-p99').textContent = format_ms(p99);
  page.getElementById('latency-last').textContent = format_ms(last);
  const recent = meter.recent();
  const top = Math.max(1, ...recent);
  const step = 300 / Math.max(1, kSparkMax - 1);
  const start = 300 - (recent.length - 1) * step;
  const points = recent.map((ms, i) => `${(start + i * step).toFixed(1)},${(52 - (48 * ms) / top).toFixed(1)}`);
  const spark = page.getElementById('spark');
  spark.querySelector('.spark-line').setAttribute('points', points.join(' '));
  spark.querySelector('.spark-area').setAttribute('points', `${start.toFixed(1)},56 ${points.join(' ')} 300,56`);
  spark.setAttribute('aria-label', `Latency of the last ${recent.length} messages, at most ${format_ms(top)}`);
}
