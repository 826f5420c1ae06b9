// Parts of the pages that look things up: messages, events, subscriptions, replays, audit.
//
//   <${Code} text=${text} label="Body" json tall />        text as it is, with a copy button; json: on several lines, digits and order kept
//   <${Counts} counts=${{ delivered: 3, … }} event=${id} />   messages by status, each a link to them
//   <${EndpointPick} label value=${id} onPick=${(id) => …} compact error />   an endpoint by a part of its URL, or by its id
//   <${EndpointLink} id=${id} url=${text} />               a link to an endpoint: its URL where it is known
//   <${Span} values=${filters} onChange=${setFilters} />   a time range: `last` (15m, 1h …), or `since` and `until`
//   rangeOf(filters)                                       { since, until } for a call; ask in each call, since `last` ends now
//   <${Once} title label value=${secret} onClose>…<//>     a secret that is shown once
//   <${Progress} done skipped total state />               how far a replay is
//   <${Fold} title=${…} open>…<//>                         a part that opens; what is in it is drawn when it is first open
//   <${Detail} load noun="message" back=${…} rows=${10} header=${(data) => ({ title, badge, sub, actions })}>${(data) => …}<//>
//        Loaded for a page about one thing, with its PageHeader: one and the same while it loads and after, so that the focus stays in it.
//        title: that of the header before there is data (else the noun)
//   SPAN                                                   what useQuery needs for a Span
import { html, useState, useEffect, useMemo, useId, useRef } from '../lib/html.js';
import { get } from '../lib/api.js';
import { number, host, setting, spanStart, percent } from '../lib/format.js';
import { pretty } from '../lib/exact.js';
import { remember } from '../lib/names.js';
import { Button, Copy, Empty, Loaded, PageHeader, Shape } from './basics.js';
import { Select, TextField, TimeField } from './form.js';

export function Code({ text, label, json = false, tall = false, copy = true }) {
  const shown = useMemo(() => (json ? pretty(text) : text), [text, json]);
  return html`<div class="code-block ${tall ? 'code-tall' : ''}">${copy && html`<${Copy} text=${shown} label="Copy ${label}" />`}<pre tabindex="0" role="region" aria-label=${label}><code>${shown}</code></pre></div>`;
}

const STATUSES = ['delivered', 'pending', 'waiting', 'parked', 'dropped'];
const TONE = { delivered: 'good', pending: 'plain', waiting: 'warn', parked: 'cold', dropped: 'bad' };

export function Counts({ counts, event }) {
  const some = STATUSES.filter((status) => counts[status] > 0);
  if (some.length === 0) {
    return html`<span class="quiet">none</span>`;
  }
  return html`<span class="counts">${some.map((status) => html`<a key=${status} class="count tone-${TONE[status]}" title="${number(counts[status])} ${status}"
    href="/messages?event=${encodeURIComponent(event)}&status=${status}"><${Shape} name=${status} />${number(counts[status])}<span class="off-screen"> ${status}</span></a>`)}</span>`;
}

export function EndpointLink({ id, url }) {
  return html`<a class="breakable clamp" href="/endpoints/${id}" title=${url || id}>${url || html`<code>${id}</code>`}</a>`;
}

const PICK_WAIT_MILLIS = 250;

export function EndpointPick({ label = 'Endpoint', value, onPick, compact, error, hint }) {
  // What is typed, or null; and the last answer: { typed, items, failed }.
  const [text, setText] = useState(null);
  const [found, setFound] = useState(null);
  const [name, setName] = useState('');
  const turn = useRef(0);
  const timer = useRef(0);
  useEffect(() => {
    let over = false;
    const show = (url) => over || setName(url);
    setName('');
    if (value) {
      get(`/v1/endpoints/${encodeURIComponent(value)}`).then((one) => {
        remember([one]);
        show(one.url);
      }, () => show(value));
    }
    return () => {
      over = true;
    };
  }, [value]);
  const stop = () => {
    turn.current++;
    clearTimeout(timer.current);
  };
  useEffect(() => stop, []);
  const rest = () => {
    stop();
    setText(null);
    setFound(null);
  };
  const choose = (id) => {
    rest();
    onPick(id);
  };
  const search = async (typed) => {
    const mine = ++turn.current;
    let items = [];
    let failed = '';
    try {
      ({ items } = await get('/v1/endpoints', { q: typed, limit: 20 }));
    } catch (problem) {
      failed = problem.detail || problem.message;
    }
    if (mine !== turn.current) {
      return;
    }
    if (items.length === 1 && items[0].url === typed) {
      choose(items[0].id);
    } else {
      setFound({ typed, items, failed });
    }
  };
  const type = (typed) => {
    stop();
    const same = found?.items.find((one) => one.url === typed || host(one.url) === typed);
    if (typed === '' || same !== undefined || /^ep_[0-9A-Z]{13}$/.test(typed)) {
      choose(same === undefined ? typed : same.id);
      return;
    }
    setText(typed);
    timer.current = setTimeout(search, PICK_WAIT_MILLIS, typed);
  };
  const answered = text !== null && found !== null && found.typed === text;
  const wrong = answered ? found.failed || (found.items.length === 0 ? 'No endpoint has this in its URL.' : '') : '';
  const open = text !== null && found !== null && found.items.length > 0;
  const onKey = (event) => {
    if (event.key === 'Escape' && text !== null) {
      event.preventDefault();
      rest();
    }
  };
  // What was typed and not chosen is no filter: the field says again what holds.
  const onLeave = (event) => {
    if (!event.currentTarget.contains(event.relatedTarget)) {
      rest();
    }
  };
  return html`<div class="pick" onKeyDown=${onKey} onFocusOut=${onLeave}>
    <${TextField} label=${label} type="search" compact=${compact} mono value=${text ?? name} onInput=${type} placeholder="part of the URL, or id" error=${error || wrong} hint=${hint} />
    ${open && html`<ul class="pick-list" aria-label="Endpoints with “${found.typed}” in the URL">${found.items.slice(0, 8).map((one) => html`<li key=${one.id}>
      <button type="button" onMouseDown=${(event) => event.preventDefault()} onClick=${() => choose(one.id)}>${host(one.url)}</button></li>`)}</ul>`}
  </div>`;
}

export const SPAN = { last: '', since: '', until: '' };
const SPANS = [['', 'Any time'], ['15m', 'Last 15 minutes'], ['1h', 'Last hour'], ['24h', 'Last 24 hours'], ['7d', 'Last 7 days'], ['own', 'From … to …']];

export function rangeOf({ last, since, until }) {
  const millis = setting(last);
  if (millis > 0) {
    return { since: spanStart(millis), until: '' };
  }
  return { since, until };
}

export function Span({ values, onChange, label = 'Time' }) {
  const own = values.last === 'own' || (values.last === '' && (values.since !== '' || values.until !== ''));
  const choose = (last) => onChange(last === 'own' ? { last } : { last, since: '', until: '' });
  const wrong = values.since !== '' && values.until !== '' && values.since >= values.until ? 'The end is before the beginning.' : '';
  return html`<${Select} label=${label} compact value=${own ? 'own' : values.last} onChange=${choose} options=${SPANS} />
    ${own && html`<${TimeField} label="From" compact value=${values.since} onInput=${(since) => onChange({ since })} />
      <${TimeField} label="To" compact value=${values.until} onInput=${(until) => onChange({ until })} error=${wrong} />`}`;
}

export function Once({ title, label, value, onClose, children }) {
  const dialog = useRef(null);
  const id = useId();
  const kept = useRef(false);
  const show = () => dialog.current?.isConnected && dialog.current.showModal();
  useEffect(() => {
    show();
  }, []);
  const keep = () => {
    kept.current = true;
    dialog.current.close();
  };
  // Escape would lose what cannot be shown again. Some browsers close a dialog by the second one all the same: then it comes back.
  return html`<dialog ref=${dialog} class="dialog once" aria-labelledby=${id} closedby="none" onCancel=${(event) => event.preventDefault()} onClose=${() => (kept.current ? onClose() : show())}>
    <h2 id=${id}>${title}</h2>
    ${children}
    <p class="once-label" id="${id}-label">${label}</p>
    <div class="once-value"><code tabindex="0" aria-labelledby="${id}-label">${value}</code></div>
    <div class="dialog-actions"><${Copy} text=${value} label="Copy" word /><${Button} kind="primary" onClick=${keep}>I have kept it<//></div>
  </dialog>`;
}

export function Progress({ done, skipped, total, state, label = 'Progress' }) {
  if (total === null) {
    return html`<div class="progress"><div class="progress-bar ${state === 'running' ? 'progress-open' : ''}"><span class="progress-done" style=${{ width: state === 'running' ? '30%' : '100%' }}></span></div>
      <span class="progress-text">${number(done)} made${state === 'running' ? ', how many there are is not known yet' : ''}</span></div>`;
  }
  const share = (count) => `${total === 0 ? 0 : Math.min(100, (count / total) * 100)}%`;
  const all = total === 0 ? 1 : Math.min(1, (done + skipped) / total);
  return html`<div class="progress">
    <div class="progress-bar" role="progressbar" aria-label=${label} aria-valuemin="0" aria-valuemax=${total} aria-valuenow=${done + skipped}>
      <span class="progress-done" style=${{ width: share(done) }}></span><span class="progress-skipped" style=${{ width: share(skipped) }}></span>
    </div>
    <span class="progress-text">${percent(all)} · ${number(done)} of ${number(total)}${skipped > 0 ? `, ${number(skipped)} left out` : ''}</span>
  </div>`;
}

export function Fold({ title, open = false, children }) {
  const [opened, setOpened] = useState(false);
  const onToggle = (event) => event.currentTarget.open && setOpened(true);
  return html`<details class="fold" open=${open} onToggle=${onToggle}><summary>${title}</summary><div class="fold-body">${(open || opened) && children}</div></details>`;
}

export function Detail({ load, noun, title, back, header, rows = 8, children }) {
  const missing = load.data === undefined && load.error?.status === 404;
  const head = load.data !== undefined ? header(load.data) : { title: missing ? `No such ${noun}` : title || noun[0].toUpperCase() + noun.slice(1) };
  return html`<${PageHeader} back=${back} ...${head}>${head.actions}<//>
    ${missing
      ? html`<${Empty} title="Nothing is known under this id"><p>${load.error.detail}</p><p>It may be of another tenant, or too old to be kept.</p><//>`
      : html`<${Loaded} load=${load} rows=${rows}>${children}<//>`}`;
}
