// One side of the demonstration: its frame on the page, its identity, and its client with the state of the connection.
import { make } from './demo-log.mjs';
import { TautClient } from './taut-client.mjs';

/** An identity of the demo server, kept for this tab so that a reload goes on with the same conversation. */
async function identity_of(role, anew) {
  const key = `taut-demo-${role}`;
  const kept = anew ? null : JSON.parse(sessionStorage.getItem(key) ?? 'null');
  if (kept) return kept;
  const answer = await fetch('v1/demo/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ role }),
  });
  if (!answer.ok) throw new Error(`no token (HTTP ${answer.status}); the server offers them only with --demo`);
  const identity = await answer.json();
  sessionStorage.setItem(key, JSON.stringify(identity));
  return identity;
}

/** Elements of the pane by name, the client once connect() was called, and the events of the composer and the link. */
export class Pane {
  identity = null;
  client = null;

  constructor(role, { title, prompt }) {
    this.role = role;
    const template = document.getElementById('pane');
    this.element = template.content.cloneNode(true).querySelector('.pane');
    this.element.dataset.role = role;
    this.element.setAttribute('aria-label', title);
    this.#find('.title').textContent = title;
    this.#find('.avatar').textContent = title[0];
    this.controls = this.#find('.controls');
    this.actions = this.#find('.actions');
    this.tabs = this.#find('.tabs');
    this.logs = this.#find('.logs');
    this.#prepare_composer(prompt);
  }

  #find(selector) {
    return this.element.querySelector(selector);
  }

  /** Called with each text that a person sends; set by the side. */
  on_text = () => {};

  /** Called when a person types (true) or has nothing unsent any more (false); set by the side. */
  on_typing = () => {};

  /** Fetches the identity and starts a client, whose listeners `listen` sets up before anything can happen. */
  async connect({ cursors, listen, anew = false }) {
    try {
      this.identity = await identity_of(this.role, anew);
    } catch (error) {
      this.#show_link('stopped', error.message);
      return;
    }
    const { id, name, site, token } = this.identity;
    this.#find('.identity').textContent = name ? `${name} (${id})` : id;
    const url = new URL('v1/chat', document.baseURI);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = '';
    this.client = new TautClient({ url: url.href, role: this.role, site, token, cursors: cursors(this.identity) });
    this.client.addEventListener('state', ({ detail }) => this.#on_state(detail, { cursors, listen, anew }));
    listen(this.client);
    window.addEventListener('online', () => this.client.wake());
    this.client.start();
  }

  /** Remembers something about this tab's identity across a reload. */
  remember(fields) {
    Object.assign(this.identity, fields);
    sessionStorage.setItem(`taut-demo-${this.role}`, JSON.stringify(this.identity));
  }

  /** Shows where the conversation stands: `state` for the eye, `text` for the reader. */
  show_state(state, text) {
    const element = this.#find('.state');
    element.dataset.state = state;
    element.textContent = text;
    this.element.dataset.conversation = state;
  }

  /** Tells the other side that an item has come, and that it was seen if it is on the screen. */
  confirm({ type, own, conversation, seq }, shown = true) {
    if (type !== 'message' || own) return;
    if (shown && document.visibilityState === 'visible') this.client.read(conversation, seq);
    else this.client.delivered(conversation, seq);
  }

  button(text, on_click, class_name = '') {
    const button = make('button', class_name, text);
    button.type = 'button';
    button.addEventListener('click', on_click);
    return button;
  }

  /** A labelled switch in the controls; returns its checkbox. */
  toggle(text, on_change, checked = false) {
    const label = make('label', 'switch');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = checked;
    box.addEventListener('change', () => on_change(box.checked));
    label.append(box, make('span', 'track'), make('span', 'switch-text', text));
    this.controls.append(label);
    return box;
  }

  #on_state({ state, retry_in_ms, code, reason }, again) {
    if (state === 'waiting') this.#show_link(state, `back in ${(retry_in_ms / 1000).toFixed(1)} s`);
    else if (state === 'stopped') this.#show_link(state, reason || `closed (${code})`);
    else this.#show_link(state, state);
    // A kept token may have expired or belong to an earlier server: one new identity, then no more.
    if (state === 'stopped' && (code === 4001 || code === 4105) && !again.anew) this.connect({ ...again, anew: true });
  }

  #show_link(state, text) {
    const link = this.#find('.link');
    link.dataset.state = state;
    link.textContent = text;
  }

  #prepare_composer(prompt) {
    const form = this.#find('.composer');
    const input = form.querySelector('textarea');
    input.id = `text-of-${this.role}`;
    input.placeholder = prompt;
    const label = form.querySelector('label');
    label.htmlFor = input.id;
    label.textContent = `Message of the ${this.role}`;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = input.value.trim();
      input.value = '';
      this.on_typing(false);
      if (text) this.on_text(text);
    });
    input.addEventListener('input', () => this.on_typing(input.value !== ''));
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
  }
}
