// Small parts that all pages share.
//
//   <${PageHeader} title="Endpoints" sub="…" back=${{ href: '/endpoints', text: 'Endpoints' }}>buttons<//>   the page's h1 and title
//   <${Card} title="Attempts" aside=${…}>…<//>                a section with an h2 (level=${3} for an h3)
//   <${StateBadge} state="frozen" />                          an endpoint's state: shape and word
//   <${StatusBadge} status="parked" />                        a message's status, a replay's state, or an attempt's outcome: shape and word
//   <${Ago} time=${t} />  <${Age} …/> ('3 min')  <${Countdown} time=${t} />  <${Time} time=${t} />    each with the UTC time as title; '–' for null
//        real on Ago and Countdown: by the wall's clock also in the demo (when a key expires)
//   <${Id} value=${id} href="/messages/…" />                  an id in fixed width, linked when href is given, with a copy button when copy
//   <${Copy} text=${…} label="Copy the id" />
//   <${Button} onClick kind="primary|danger|plain" busy=${b} small disabled>Enable<//>   href makes it a link
//   <${Facts} items=${[['State', html`…`], ['Since', …]]} />   a list of terms and values; entries that are null are left out; a third: its title, a fourth: whether it takes the whole width
//   <${Empty} title="…">what to do<//>  <${Loading} rows=${5} />  <${ErrorBox} error=${problem} retry=${reload} />
//   <${Loaded} load=${load} empty=${(d) => d.items.length === 0} whenEmpty=${html`<${Empty} …/>`}>${(data) => html`…`}<//>
//        skeleton, error with retry, empty state, or the function's result; old data stays while and when a refresh fails. While the banner says
//        that the server is not heard, it is not said again here: <${LoadError} load=${load} /> is the error of a load, or nothing then
//   <${Confirm} open=${b} title text action="Freeze" kind="danger" busy error onConfirm onCancel>more<//>   a modal <dialog>
//   <${Tabs} value=${v} onChange=${set} items=${[['hour', 'Hour'], ['day', 'Day']]} label="Span" />   one of few, as buttons
//   <${JsonView} value=${anything} label="Data" />             on several lines; a string that is JSON too
//   <${Note} kind="warn|bad|info|good">text<//>               a framed sentence with a shape
//   notify('Enabled.'), notify('…', 'bad'); <${Notices} />     short messages, read out; app.js has the one Notices
//   <${Shape} name="frozen" />                                the small figures: enabled disabled frozen failing pending waiting parked
//                                                             delivered dropped running done cancelled info warn
import { html, useState, useEffect, useMemo, useRef, useId } from '../lib/html.js';
import { useNow } from '../lib/clock.js';
import { speed } from '../lib/session.js';
import { useLiveState } from '../lib/live.js';
import { pretty } from '../lib/exact.js';
import * as format from '../lib/format.js';

const SHAPES = {
  enabled: html`<circle cx="6" cy="6" r="4.5" fill="currentColor" />`,
  disabled: html`<path d="M6 .8 11.2 6 6 11.2.8 6Z" fill="currentColor" />`,
  frozen: html`<rect x="1.5" y="1.5" width="9" height="9" rx="1" fill="currentColor" />`,
  failing: html`<path d="M6 1 11.4 10.8H.6Z" fill="currentColor" />`,
  pending: html`<circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" stroke-width="1.6" />`,
  waiting: html`<g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"><circle cx="6" cy="6" r="4.6" /><path d="M6 3.4V6l1.9 1.2" /></g>`,
  parked: html`<path d="M3 1.5h2.2v9H3zM6.8 1.5H9v9H6.8z" fill="currentColor" />`,
  delivered: html`<path d="M1.4 6.6 4.6 9.8 10.6 2.6" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />`,
  dropped: html`<path d="M2.2 2.2 9.8 9.8M9.8 2.2 2.2 9.8" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />`,
  running: html`<path d="M2.5 1.2 10.5 6 2.5 10.8Z" fill="currentColor" />`,
  cancelled: html`<path d="M2 6h8" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />`,
  info: html`<g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"><circle cx="6" cy="6" r="5" /><path d="M6 5.6v2.8M6 3.5v.1" /></g>`,
  warn: html`<g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d="M6 1 11.4 10.8H.6Z" /><path d="M6 4.6v2.6M6 9v.1" /></g>`,
};
SHAPES.success = SHAPES.delivered;
SHAPES.done = SHAPES.delivered;
SHAPES.failure = SHAPES.dropped;
SHAPES.good = SHAPES.enabled;
SHAPES.bad = SHAPES.failing;
SHAPES.live = SHAPES.enabled;
SHAPES.connecting = SHAPES.pending;
SHAPES.disconnected = SHAPES.dropped;
SHAPES.refused = SHAPES.warn;
SHAPES.paused = SHAPES.parked;
SHAPES.active = SHAPES.enabled;

// Which tone a word has. The tone colours the shape; the word stays.
const TONES = {
  enabled: 'good', disabled: 'warn', frozen: 'cold', failing: 'bad', pending: 'plain', waiting: 'warn', parked: 'cold',
  delivered: 'good', dropped: 'bad', success: 'good', failure: 'bad', running: 'info', done: 'good', cancelled: 'plain',
  paused: 'cold', active: 'good', revoked: 'plain', expired: 'plain', live: 'good', connecting: 'plain', disconnected: 'bad',
};

export function Shape({ name }) {
  return html`<svg class="shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">${SHAPES[name] || SHAPES.cancelled}</svg>`;
}

function Badge({ name, text, title }) {
  return html`<span class="badge tone-${TONES[name] || 'plain'}" title=${title}><${Shape} name=${name} /><span class="badge-text">${text || name}</span></span>`;
}

export function StateBadge({ state, text }) {
  return html`<${Badge} name=${state} text=${text} />`;
}

export function StatusBadge({ status, text, title }) {
  return html`<${Badge} name=${status} text=${text} title=${title || (text ? undefined : format.statusText(status))} />`;
}

export function PageHeader({ title, sub, back, badge, children }) {
  const heading = useRef(null);
  useEffect(() => {
    document.title = title ? `${title} · Holdfast` : 'Holdfast';
  }, [title]);
  return html`<header class="page-header">
    <div class="page-titles">
      ${back && html`<a class="back" href=${back.href}><span aria-hidden="true">‹ </span>${back.text}</a>`}
      <h1 ref=${heading} tabindex="-1">${title}${badge && html` <span class="title-badge">${badge}</span>`}</h1>
      ${sub && html`<p class="sub">${sub}</p>`}
    </div>
    ${children && html`<div class="page-actions">${children}</div>`}
  </header>`;
}

export function Card({ title, aside, level = 2, flush = false, kind = '', children }) {
  const id = useId();
  const Heading = `h${level}`;
  return html`<section class="card ${flush ? 'card-flush' : ''} ${kind}" aria-labelledby=${title ? id : undefined}>
    ${title && html`<header class="card-header"><${Heading} id=${id}>${title}<//>${aside && html`<div class="card-aside">${aside}</div>`}</header>`}
    <div class="card-body">${children}</div>
  </section>`;
}

function tick() {
  // With time sped up a second is many minutes: draw more often.
  return speed() > 1 ? 250 : 1000;
}

export function Ago({ time, real = false }) {
  const now = useNow(tick());
  if (!time) {
    return html`<span class="quiet">–</span>`;
  }
  return html`<time datetime=${time} title=${format.utc(time)}>${real ? format.realAgo(time, now) : format.ago(time, now)}</time>`;
}

export function Age({ time }) {
  const now = useNow(tick());
  if (!time) {
    return html`<span class="quiet">–</span>`;
  }
  return html`<time datetime=${time} title=${format.utc(time)}>${format.age(time, now)}</time>`;
}

export function Countdown({ time, past = 'now', real = false }) {
  const now = useNow(tick());
  if (!time) {
    return html`<span class="quiet">–</span>`;
  }
  const text = real ? format.realUntil(time, now) : format.until(time, now);
  return html`<time datetime=${time} title=${format.utc(time)}>${text === 'now' ? past : text}</time>`;
}

export function Time({ time }) {
  if (!time) {
    return html`<span class="quiet">–</span>`;
  }
  return html`<time datetime=${time} title=${format.utc(time)}>${format.clockTime(time)}</time>`;
}

export function Id({ value, href, copy = false }) {
  if (!value) {
    return html`<span class="quiet">–</span>`;
  }
  return html`<span class="id">${href ? html`<a href=${href}><code>${value}</code></a>` : html`<code>${value}</code>`}${copy && html`<${Copy} text=${value} label="Copy ${value}" />`}</span>`;
}

export function Copy({ text, label = 'Copy', word = false }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    const ok = await toClipboard(text);
    setDone(ok);
    notify(ok ? 'Copied.' : 'The browser did not allow copying. Mark the text and copy it by hand.', ok ? 'good' : 'warn');
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="copy ${word ? 'copy-word' : ''}" onClick=${copy} aria-label=${word ? undefined : label} title=${label}>
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round">
      ${done ? html`<path d="M3 8.5 6.5 12 13 4.5" stroke-linecap="round" />` : html`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />`}
    </svg>${word && html`<span>${label}</span>`}
  </button>`;
}

// Without TLS the clipboard's interface is missing; a hidden field still works.
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'off-screen';
    document.body.append(field);
    field.select();
    const ok = document.execCommand('copy');
    field.remove();
    return ok;
  }
}

export function Button({ onClick, href, kind = 'plain', type = 'button', busy = false, small = false, disabled = false, label, children }) {
  const names = `button button-${kind} ${small ? 'button-small' : ''}`;
  if (href) {
    return html`<a class=${names} href=${href} aria-label=${label}>${children}</a>`;
  }
  return html`<button type=${type} class=${names} onClick=${onClick} disabled=${disabled} aria-disabled=${busy ? 'true' : undefined} aria-busy=${busy ? 'true' : undefined} aria-label=${label}>${children}${busy && html`<span class="busy" aria-hidden="true"></span>`}</button>`;
}

export function Facts({ items }) {
  return html`<dl class="facts">${items.filter((item) => item).map(([term, value, title, wide]) => html`<div key=${term} class=${wide ? 'fact-wide' : ''}><dt>${term}</dt><dd title=${title}>${value}</dd></div>`)}</dl>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<div class="empty-text">${children}</div>`}</div>`;
}

export function Loading({ rows = 4, label = 'Loading' }) {
  return html`<div class="skeleton" role="status"><span class="off-screen">${label}</span>${Array.from({ length: rows }, (_, i) => html`<span class="bone bone-${i % 3}" key=${i}></span>`)}</div>`;
}

export function ErrorBox({ error, retry }) {
  return html`<div class="note tone-bad" role="alert">
    <${Shape} name="bad" />
    <div class="note-body">
      <strong>${error.title || 'That did not work'}</strong>
      <p>${error.detail || error.message}</p>
      ${error.retryAfter && html`<p>Try again in ${error.retryAfter} s.</p>`}
      ${error.reference && html`<p>The server’s log says more under <code>${error.reference}</code>.</p>`}
    </div>
    ${retry && html`<${Button} small onClick=${retry}>Try again<//>`}
  </div>`;
}

export function Note({ kind = 'info', children, action }) {
  const tone = { info: 'info', warn: 'warn', bad: 'bad', good: 'good' }[kind];
  return html`<div class="note tone-${tone}"><${Shape} name=${kind} /><div class="note-body">${children}</div>${action}</div>`;
}

export function LoadError({ load, otherwise = null }) {
  const state = useLiveState();
  return load.error === null || (load.error.status === 0 && state === 'disconnected') ? otherwise : html`<${ErrorBox} error=${load.error} retry=${load.reload} />`;
}

export function Loaded({ load, rows = 4, empty, whenEmpty, children }) {
  if (load.data === undefined) {
    return load.error ? html`<${LoadError} load=${load} otherwise=${html`<p class="quiet">This is loaded when the server is heard again.</p>`} />` : html`<${Loading} rows=${rows} />`;
  }
  const body = empty && empty(load.data) ? whenEmpty : children(load.data);
  return html`<${LoadError} load=${load} />${body}`;
}

export function Confirm({ open, title, text, action, kind = 'primary', busy = false, error = null, onConfirm, onCancel, children }) {
  const dialog = useRef(null);
  const id = useId();
  useEffect(() => {
    if (open && !dialog.current.open) {
      dialog.current.showModal();
    } else if (!open && dialog.current.open) {
      dialog.current.close();
    }
  }, [open]);
  const submit = (event) => {
    event.preventDefault();
    if (!busy) {
      onConfirm();
    }
  };
  const cancel = (event) => {
    event.preventDefault();
    onCancel();
  };
  return html`<dialog ref=${dialog} class="dialog" aria-labelledby=${id} onCancel=${cancel}>
    ${open && html`<form onSubmit=${submit}>
      <h2 id=${id}>${title}</h2>
      ${text && html`<p>${text}</p>`}
      ${children}
      ${error && html`<${ErrorBox} error=${error} />`}
      <div class="dialog-actions"><${Button} onClick=${onCancel}>Cancel<//><${Button} type="submit" kind=${kind} busy=${busy}>${action}<//></div>
    </form>`}
  </dialog>`;
}

export function Tabs({ value, onChange, items, label }) {
  return html`<div class="tabs" role="group" aria-label=${label}>${items.map(([key, text]) => html`<button type="button" key=${key} aria-pressed=${key === value ? 'true' : 'false'} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;
}

export function JsonView({ value, label = 'JSON', copy = true }) {
  const text = useMemo(() => pretty(typeof value === 'string' ? value : JSON.stringify(value) ?? ''), [value]);
  return html`<div class="code-block">${copy && html`<${Copy} text=${text} label="Copy ${label}" />`}<pre tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre></div>`;
}

const NOTICE_MILLIS = 5000;
let notices = [];
let count = 0;
let drawNotices = () => {};

/** Says something shortly, on the screen and to screen readers. */
export function notify(text, kind = 'good') {
  const notice = { id: ++count, text, kind };
  notices = [...notices.slice(-3), notice];
  drawNotices();
  setTimeout(() => {
    notices = notices.filter((one) => one !== notice);
    drawNotices();
  }, NOTICE_MILLIS);
}

export function Notices() {
  const [, draw] = useState(0);
  useEffect(() => {
    drawNotices = () => draw((n) => n + 1);
    return () => {
      drawNotices = () => {};
    };
  }, []);
  return html`<div class="notices" role="status" aria-live="polite">${notices.map((notice) => html`<div class="notice tone-${notice.kind}" key=${notice.id}><${Shape} name=${notice.kind} /><span>${notice.text}</span></div>`)}</div>`;
}
