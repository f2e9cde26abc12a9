// The agent's side: presence, offers to accept or decline, and a tab for each conversation.
import { Log, make } from './demo-log.mjs';
import { format_ms } from './demo-latency.mjs';
import { Pane } from './demo-pane.mjs';

const kTabsMax = 8; // ended conversations leave first

export class Agent {
  #pane = new Pane('agent', { title: 'Agent', prompt: 'Answer…' });
  #meter;
  #tabs = new Map(); // conversation → {id, log, tab, state, visitor, subject}
  #shown = null; // the conversation on the screen
  #online;
  #auto_accept;

  constructor(meter) {
    this.#meter = meter;
    this.element = this.#pane.element;
    this.#online = this.#pane.toggle('Online', () => this.#tell_presence(), true);
    this.#auto_accept = this.#pane.toggle('Accept at once', () => this.#accept_offers());
    this.#pane.on_text = (text) => this.say(text);
    this.#pane.on_typing = (on) => this.#tabs.get(this.#shown)?.state === 'active' && this.#pane.client.typing(this.#shown, on);
    this.#show_state();
  }

  start() {
    return this.#pane.connect({ cursors: () => [], listen: (client) => this.#listen(client) });
  }

  /** Sends a text to the visitor on the screen. */
  async say(text) {
    const shown = this.#tabs.get(this.#shown);
    if (!shown) return;
    const client_msg_id = crypto.getRandomValues(new Uint32Array(3)).join('-');
    shown.log.pending(client_msg_id, text);
    this.#meter.sent(client_msg_id);
    try {
      await this.#pane.client.send(shown.id, text, { client_msg_id });
    } catch (error) {
      shown.log.failed(client_msg_id, error.message);
    }
  }

  #listen(client) {
    // The server forgets a presence when it restarts, so each welcome is told what the switch says.
    client.addEventListener('welcome', () => this.#tell_presence());
    client.addEventListener('assigned', ({ detail }) => this.#on_assigned(detail));
    client.addEventListener('unassigned', ({ detail }) => this.#on_unassigned(detail));
    client.addEventListener('item', ({ detail }) => this.#on_item(detail));
    client.addEventListener('gap', ({ detail }) => this.#on_gap(detail));
    client.addEventListener('typing', ({ detail: { conversation, on, ttl_ms } }) => {
      const known = this.#tabs.get(conversation);
      known?.log.typing(on ? known.visitor : '', ttl_ms);
    });
    client.addEventListener('receipt', ({ detail: { conversation, level, seq } }) => this.#tabs.get(conversation)?.log.mark(level, seq));
  }

  #tell_presence() {
    this.#pane.client?.presence(this.#online.checked ? 'online' : 'offline').catch(() => {});
    this.#show_state();
  }

  #on_assigned({ conversation, visitor, subject, seq }) {
    const known = this.#tabs.get(conversation) ?? this.#add_tab(conversation);
    known.visitor = visitor.name ?? visitor.id;
    known.subject = subject ?? '';
    known.tab.firstChild.textContent = known.visitor;
    known.state = 'assigned';
    if (this.#tabs.get(this.#shown)?.state !== 'active') this.#show(conversation);
    if (this.#auto_accept.checked) this.#accept(known);
    this.#show_state();
    this.#load_earlier(known, seq + 1).catch((error) => known.log.remark(error.message));
  }

  // After a reload `assigned` alone does not say whether the offer was taken already; the last event before it does.
  async #load_earlier(known, before) {
    const { items } = await this.#pane.client.history(known.id, { before });
    let state = 'assigned';
    for (const item of items) {
      const own = item.from?.kind === 'agent' && item.from.id === this.#pane.identity.id;
      known.log.add(own ? { ...item, own } : item);
      if (item.type === 'event') state = item.event === 'accepted' ? 'active' : 'assigned';
    }
    if (known.state === 'assigned') this.#enter(known, state);
  }

  #on_unassigned({ conversation, reason }) {
    const known = this.#tabs.get(conversation);
    if (!known) return;
    this.#enter(known, 'ended');
    if (reason !== 'closed') known.log.remark(`No longer yours (${reason})`);
  }

  #on_item(item) {
    const known = this.#tabs.get(item.conversation) ?? this.#add_tab(item.conversation);
    const ms = item.type === 'message' && !item.own ? this.#meter.arrived(item.client_msg_id) : undefined;
    known.log.add(item, ms === undefined ? '' : format_ms(ms));
    if (item.type === 'event' && item.event === 'accepted') this.#enter(known, 'active');
    if (item.type === 'event' && item.event === 'closed') this.#enter(known, 'ended');
    if (item.type === 'message') known.log.typing('');
    this.#pane.confirm(item, this.#shown === item.conversation);
    if (item.type === 'message' && this.#shown !== item.conversation) known.tab.dataset.unread = 'true';
  }

  #on_gap({ conversation, reason, from, to }) {
    const known = this.#tabs.get(conversation);
    if (!known) return;
    if (reason === 'no_such_conversation') {
      this.#enter(known, 'ended');
      known.log.remark('The server no longer knows this conversation.');
    } else if (reason !== 'expired' && reason !== 'missing') {
      known.log.drop(from, to);
    }
  }

  #accept_offers() {
    if (!this.#auto_accept.checked) return;
    for (const known of this.#tabs.values()) if (known.state === 'assigned') this.#accept(known);
  }

  #accept({ id, log }) {
    this.#pane.client.accept(id).catch((error) => log.remark(error.message));
  }

  #add_tab(id) {
    const tab = this.#pane.button('', () => this.#show(id), 'tab');
    tab.append(make('span', 'tab-name', id));
    const known = { id, log: new Log(), tab, state: 'assigned', visitor: id, subject: '' };
    known.log.call(this.#pane.identity.id, this.#pane.identity.name);
    tab.dataset.state = known.state;
    this.#tabs.set(id, known);
    this.#pane.tabs.append(tab);
    const ended = [...this.#tabs.values()].filter((t) => t.state === 'ended' && t.id !== this.#shown);
    for (const old of ended.slice(0, Math.max(0, this.#tabs.size - kTabsMax))) {
      old.tab.remove();
      this.#tabs.delete(old.id);
    }
    return known;
  }

  #enter(known, state) {
    known.state = state;
    this.#show_state();
  }

  #show(conversation) {
    this.#shown = conversation;
    const { log, tab } = this.#tabs.get(conversation);
    delete tab.dataset.unread;
    this.#pane.logs.replaceChildren(log.element);
    log.element.scrollTop = log.element.scrollHeight;
    this.#show_state();
  }

  #show_state() {
    for (const { id, tab, state } of this.#tabs.values()) {
      tab.dataset.state = state;
      tab.setAttribute('aria-pressed', String(id === this.#shown));
    }
    const known = this.#tabs.get(this.#shown);
    const idle = this.#online.checked ? 'Waiting for a visitor' : 'Offline: no visitor comes here';
    const about = known?.subject ? ` about “${known.subject}”` : '';
    const texts = { assigned: `${known?.visitor} would like to talk${about}`, active: `Talking with ${known?.visitor}${about}`, ended: idle };
    this.#pane.show_state(known?.state ?? 'none', texts[known?.state] ?? idle);
    this.#pane.actions.replaceChildren(...this.#actions(known));
  }

  #actions(known) {
    const { client } = this.#pane;
    const remark = (error) => known.log.remark(error.message);
    if (known?.state === 'assigned') {
      return [
        this.#pane.button('Accept', () => this.#accept(known), 'primary'),
        this.#pane.button('Decline', () => client.decline(known.id).catch(remark)),
      ];
    }
    if (known?.state === 'active') return [this.#pane.button('Close', () => client.close(known.id, 'solved').catch(remark))];
    return [];
  }
}
