// One conversation on the screen: its items in the order of their sequence numbers, its unsent texts below them.

const kItemsMax = 500; // rows kept; the oldest leave first
const kDrawMs = 30; // rows are drawn together so often: a message must not wait for the drawing of the one before it
const kNearEndPx = 80; // a reader this close to the end follows it

const kTicks = { accepted: '✓', delivered: '✓✓', read: '✓✓' };

const kTimeOfDay = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });

/** What an event of a conversation says to a person; '' for one that is not shown. `names` has those of agents by id. */
export function event_text({ event, agent, reason }, names = new Map()) {
  const who = names.get(agent) ?? agent ?? 'an agent';
  switch (event) {
    case 'opened':
      return 'Conversation opened';
    case 'assigned':
      return `Offered to ${who}`;
    case 'accepted':
      return `${who} joined`;
    case 'transferred':
      return `Handed over to ${who}`;
    case 'requeued':
      return reason ? `Back in the queue (${reason})` : 'Back in the queue';
    case 'closed':
      return 'Conversation closed';
    case 'reopened':
      return 'Conversation reopened';
    default:
      return '';
  }
}

/** `element` is the scrolling box to put on the page. Text reaches it as text nodes only. */
export class Log {
  #rows = new Map(); // seq → row
  #pending = new Map(); // client_msg_id → row
  #items;
  #unsent;
  #at_end = true; // kept by the scroll event: asking the box after each row would lay the page out once per message
  #undrawn = []; // [item, latency], in the order of arrival
  #names = new Map(); // of agents, by id
  #named_rows = []; // [event, row] of agents whose name is not known yet
  #marks = { delivered: 0, read: 0 }; // how far the other side has come
  #typing;
  #typing_ends = null; // the timer that takes the line away
  #drawing = null;

  constructor() {
    this.element = make('div', 'log');
    this.element.setAttribute('role', 'log');
    this.element.setAttribute('aria-live', 'polite');
    this.element.tabIndex = 0;
    this.#items = make('ol', 'items');
    this.#unsent = make('ol', 'items unsent');
    this.#typing = make('p', 'typing');
    this.element.append(this.#items, this.#unsent, this.#typing);
    this.element.addEventListener('scroll', () => this.#on_scroll(), { passive: true });
  }

  /** A text on its way; its item, or failed(), takes it away. */
  pending(client_msg_id, text) {
    const row = make('li', 'bubble own waiting');
    row.append(make('p', 'text', text), make('span', 'meta', 'sending'));
    this.#pending.set(client_msg_id, row);
    this.#at_end = true;
    this.#draw_soon();
  }

  failed(client_msg_id, why) {
    const row = this.#pending.get(client_msg_id);
    if (!row) return;
    this.#pending.delete(client_msg_id);
    this.#unsent.append(row);
    row.classList.replace('waiting', 'failed');
    row.lastChild.textContent = `not sent: ${why}`;
  }

  /** Shows a `message` or `event` at its place. `latency` is a short text, shown beside the time of others' messages. */
  add(item, latency = '') {
    this.#undrawn.push([item, latency]);
    this.#draw_soon();
  }

  /** Events name an agent by its id alone: what it is called, rows that are drawn already included. */
  call(id, name) {
    if (!name || this.#names.get(id) === name) return;
    this.#names.set(id, name);
    for (const [event, row] of this.#named_rows) row.textContent = event_text(event, this.#names);
    this.#named_rows = this.#named_rows.filter(([event]) => !this.#names.has(event.agent));
  }

  /** The other side has received (`delivered`) or seen (`read`) everything up to `seq`. */
  mark(level, seq) {
    if (seq <= this.#marks[level]) return;
    this.#marks[level] = seq;
    for (const [at, row] of this.#rows) if (at <= seq) this.#show_tick(at, row);
  }

  /** Somebody, named or by id, types, for so long at most; '' ends it. */
  typing(who, ttl_ms = 0) {
    clearTimeout(this.#typing_ends);
    this.#typing.textContent = who && `${this.#names.get(who) ?? who} is typing…`;
    if (who) this.#typing_ends = setTimeout(() => this.typing(''), ttl_ms);
    if (this.#at_end) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Takes back items that never came to be. */
  drop(from, to) {
    this.#draw();
    for (const [seq, row] of this.#rows) {
      if (seq < from || seq > to) continue;
      row.remove();
      this.#rows.delete(seq);
    }
  }

  /** A line of the page's own, not part of the conversation. */
  remark(text) {
    this.#draw();
    this.#items.append(make('li', 'remark', text));
    this.#draw_soon();
  }

  // A timer and not the next frame: a window in the background has no frames, and its log must not pile up.
  #draw_soon() {
    this.#drawing ??= setTimeout(() => this.#draw(), kDrawMs);
  }

  #draw() {
    clearTimeout(this.#drawing);
    this.#drawing = null;
    for (const [item, latency] of this.#undrawn) {
      this.#pending.get(item.client_msg_id)?.remove();
      this.#pending.delete(item.client_msg_id);
      if (item.from?.kind === 'agent') this.call(item.from.id, item.from.name);
      if (!this.#rows.has(item.seq)) this.#insert(item.seq, item.type === 'message' ? message_row(item, latency) : this.#event_row(item));
    }
    this.#undrawn.length = 0;
    for (const row of this.#pending.values()) if (!row.isConnected) this.#unsent.append(row);
    if (this.#at_end) this.element.scrollTop = this.element.scrollHeight;
  }

  #insert(seq, row) {
    row.dataset.seq = seq;
    let before = this.#items.lastElementChild;
    while (before && Number(before.dataset.seq ?? 0) > seq) before = before.previousElementSibling;
    if (before) before.after(row);
    else this.#items.prepend(row);
    this.#rows.set(seq, row);
    this.#show_tick(seq, row);
    if (this.#rows.size <= kItemsMax) return;
    const oldest = this.#items.firstElementChild;
    this.#rows.delete(Number(oldest.dataset.seq));
    oldest.remove();
  }

  #event_row(item) {
    const text = event_text(item, this.#names);
    const row = make('li', 'remark', text);
    row.hidden = text === '';
    if (item.agent && !this.#names.has(item.agent)) this.#named_rows.push([item, row]);
    return row;
  }

  #show_tick(seq, row) {
    const tick = row.querySelector('.tick');
    if (!tick) return;
    tick.dataset.mark = seq <= this.#marks.read ? 'read' : seq <= this.#marks.delivered ? 'delivered' : 'accepted';
    tick.textContent = kTicks[tick.dataset.mark];
    tick.title = tick.dataset.mark;
  }

  #on_scroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.#at_end = scrollHeight - scrollTop - clientHeight < kNearEndPx;
  }
}

export function make(tag, class_name, text = '') {
  const element = document.createElement(tag);
  element.className = class_name;
  element.textContent = text;
  return element;
}

function message_row({ own, from, text, ts }, latency) {
  const row = make('li', own ? 'bubble own' : 'bubble');
  const time = kTimeOfDay.format(ts);
  const meta = make('span', 'meta', time);
  if (own) meta.append(make('span', 'tick'));
  if (latency) meta.append(make('span', 'took', latency));
  if (!own) row.setAttribute('aria-label', `${from.name ?? from.id} wrote`);
  row.append(make('p', 'text', text), meta);
  return row;
}
