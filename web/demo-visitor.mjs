// The visitor's side: one conversation, opened by its first message.
import { Log } from './demo-log.mjs';
import { format_ms } from './demo-latency.mjs';
import { Pane } from './demo-pane.mjs';

const kSubjectMax = 60; // characters of the first text that the offer to an agent shows

/** What a conversation that begins with this text is about. */
function subject_of(text) {
  const characters = [...text.replaceAll(/\s+/g, ' ')];
  return characters.length <= kSubjectMax ? characters.join('') : `${characters.slice(0, kSubjectMax).join('')}…`;
}

export class Visitor {
  #pane = new Pane('visitor', { title: 'Visitor', prompt: 'Ask something…' });
  #meter;
  #log = new Log();
  #conversation = null;
  #opening = null; // the promise of open(), while it runs
  #over = false; // the log shows a conversation that has ended

  constructor(meter) {
    this.#meter = meter;
    this.element = this.#pane.element;
    this.#pane.on_text = (text) => this.say(text);
    this.#pane.on_typing = (on) => this.#conversation && this.#pane.client.typing(this.#conversation, on);
    this.#pane.logs.append(this.#log.element);
    this.#show('none', 'Write to open a conversation');
  }

  start() {
    return this.#pane.connect({ cursors: (identity) => this.#cursors(identity), listen: (client) => this.#listen(client) });
  }

  /** Sends a text, opening a conversation first where there is none. */
  async say(text) {
    if (this.#over) this.#begin_log();
    const client_msg_id = crypto.getRandomValues(new Uint32Array(3)).join('-');
    this.#log.pending(client_msg_id, text);
    try {
      await this.#open(text);
      this.#meter.sent(client_msg_id);
      await this.#pane.client.send(this.#conversation, text, { client_msg_id });
    } catch (error) {
      this.#log.failed(client_msg_id, error.message);
    }
  }

  // After a reload the page holds nothing, so it resumes its conversation from the very beginning.
  #cursors({ conversation }) {
    if (!conversation) return [];
    this.#conversation = conversation;
    return [{ conversation, epoch: 1, seq: 0 }];
  }

  #open(text) {
    if (this.#conversation) return undefined;
    this.#opening ??= this.#pane.client
      .open({ group: this.#pane.identity.group, subject: subject_of(text) })
      .then(({ conversation, state, position }) => {
        this.#conversation = conversation;
        this.#pane.remember({ conversation });
        if (state === 'queued') this.#show_queued(position);
        else if (state !== 'closed') this.#show(state, state === 'active' ? 'Talking' : 'Offered to an agent');
      })
      .finally(() => (this.#opening = null));
    return this.#opening;
  }

  #listen(client) {
    client.addEventListener('item', ({ detail }) => this.#on_item(detail));
    client.addEventListener('gap', ({ detail }) => this.#on_gap(detail));
    client.addEventListener('typing', ({ detail }) => this.#is_mine(detail) && this.#on_typing(detail));
    client.addEventListener('receipt', ({ detail }) => this.#is_mine(detail) && this.#log.mark(detail.level, detail.seq));
    client.addEventListener('queue', ({ detail }) => this.#is_mine(detail) && this.#show_queued(detail.position));
  }

  // A push can overtake the promise of open() by a microtask: until that has settled every conversation is taken for ours.
  #is_mine({ conversation }) {
    return this.#conversation === null || this.#conversation === conversation;
  }

  #on_item(item) {
    if (!this.#is_mine(item)) return;
    const ms = item.type === 'message' && !item.own ? this.#meter.arrived(item.client_msg_id) : undefined;
    this.#log.add(item, ms === undefined ? '' : format_ms(ms));
    if (item.type === 'event') this.#on_event(item);
    if (item.type === 'message') this.#log.typing('');
    this.#pane.confirm(item);
  }

  #on_typing({ on, from, ttl_ms }) {
    this.#log.typing(on ? (from.name ?? from.id) : '', ttl_ms);
  }

  #on_event({ event }) {
    if (event === 'opened' || event === 'reopened' || event === 'requeued') this.#show_queued();
    else if (event === 'assigned' || event === 'transferred') this.#show('assigned', 'Offered to an agent');
    else if (event === 'accepted') this.#show('active', 'Talking');
    else if (event === 'closed') this.#show('closed', 'Closed; write to open a new one');
    if (event === 'closed') this.#forget();
  }

  #on_gap({ reason, from, to }) {
    if (reason === 'no_such_conversation') {
      this.#log.remark('The server no longer knows this conversation.');
      this.#show('none', 'Write to open a new conversation');
      this.#forget();
    } else if (reason !== 'expired' && reason !== 'missing') {
      this.#log.drop(from, to);
    }
  }

  #forget() {
    this.#conversation = null;
    this.#over = true;
    this.#pane.remember({ conversation: undefined });
  }

  // The numbers of the next conversation start at 1 again, so it gets a log of its own.
  #begin_log() {
    this.#over = false;
    this.#log = new Log();
    this.#pane.logs.replaceChildren(this.#log.element);
  }

  #show_queued(position) {
    this.#show('queued', position ? `Queued, position ${position}` : 'Queued');
  }

  #show(state, text) {
    this.#pane.show_state(state, text);
    const end = this.#pane.button('End chat', () => this.#pane.client.close(this.#conversation, 'visitor left').catch(() => {}));
    this.#pane.actions.replaceChildren(...(['queued', 'assigned', 'active'].includes(state) ? [end] : []));
  }
}
