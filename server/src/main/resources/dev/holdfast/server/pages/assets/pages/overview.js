// The first page: is everything being delivered, and if not, what is to be done.
import { html, useState } from '../lib/html.js';
import { get } from '../lib/api.js';
import { may } from '../lib/session.js';
import { useLoad } from '../lib/load.js';
import { useChange, useLive } from '../lib/live.js';
import { useNow } from '../lib/clock.js';
import { advice, age, host, latency, number, plural, rate, reasonText, secondTime, short } from '../lib/format.js';
import { Ago, Button, Card, Countdown, Empty, Loaded, PageHeader, Shape, StateBadge, Tabs } from '../parts/basics.js';
import { LineChart, Parts } from '../parts/charts.js';
import { held } from './endpoints.js';

// An endpoint that is enabled counts as failing from so many failures in a row: single ones are everyday.
const FAILING = 5;
const SHOWN = 12;
const LIVE_MILLIS = 120_000;

export default function Overview() {
  const failing = useLoad(loadFailing, [], { every: 5000 });
  const changes = useLoad(() => get('/v1/changes', { limit: 30 }), [], { every: 15_000 });
  useChange(() => {
    failing.reload();
    changes.reload();
  });
  return html`<${PageHeader} title="Overview" />
    <${Verdict} failing=${failing.data} />
    <${Figures} />
    <${Card} title="The last two minutes" aside="a second"><${LiveChart} /><//>
    <${Past} />
    <div class="columns columns-wide-left">
      <${Card} title="What needs you"><${Loaded} load=${failing} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="Nothing.">Endpoints that fail again and again, are disabled or frozen are listed here.<//>`}>${(data) => html`<${Failing} data=${data} />`}<//><//>
      <${Card} title="Changes of state"><${Loaded} load=${changes} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="None yet.">When an endpoint is disabled, frozen or works again, it is said here.<//>`}>${(data) => html`<${Timeline} items=${data.items} />`}<//><//>
    </div>`;
}

async function loadFailing() {
  const [frozen, disabled, worst] = await Promise.all([
    get('/v1/endpoints', { state: 'frozen', limit: 50 }),
    get('/v1/endpoints', { state: 'disabled', limit: 50 }),
    get('/v1/endpoints', { sort: 'failures', limit: 50 }),
  ]);
  const enabled = worst.items.filter((endpoint) => endpoint.state === 'enabled' && endpoint.consecutiveFailures >= FAILING);
  const items = [...disabled.items.filter((one) => one.nextProbeAt), ...frozen.items.filter((one) => one.reason !== 'operator'), ...enabled,
    ...frozen.items.filter((one) => one.reason === 'operator'), ...disabled.items.filter((one) => !one.nextProbeAt)];
  return { items, enabled: enabled.length, more: Boolean(frozen.next || disabled.next), any: worst.items.length > 0 };
}

function byHand(endpoint) {
  return endpoint.state !== 'enabled' && endpoint.reason === 'operator';
}

/** One sentence: how it stands. */
function Verdict({ failing }) {
  const live = useLive();
  const now = useNow(1000);
  if (failing === undefined || live.now === null) {
    return html`<div class="verdict tone-plain"><${Shape} name="pending" /><div><p class="verdict-text">Looking…</p><p class="verdict-more">What the server does now is being asked for.</p></div></div>`;
  }
  const { tone, shape, sentence, more } = judge(failing, live.now, now);
  return html`<div class="verdict tone-${tone}"><${Shape} name=${shape} /><div><p class="verdict-text">${sentence}</p><p class="verdict-more">${more}</p></div></div>`;
}

function judge(failing, figures, now) {
  const states = figures.endpoints;
  const all = states.enabled + states.disabled + states.frozen;
  const broken = failing.items.filter((endpoint) => !byHand(endpoint));
  const hand = failing.items.length - broken.length;
  // The lists are cut off, the figures are not.
  const count = failing.more ? Math.max(broken.length, states.disabled + states.frozen + failing.enabled - hand) : broken.length;
  const behind = figures.waiting + figures.parked;
  const held = behind === 0 ? 'No message waits or is parked.' : `${plural(figures.waiting, 'message')} ${figures.waiting === 1 ? 'waits' : 'wait'} for a retry, ${number(figures.parked)} ${figures.parked === 1 ? 'is' : 'are'} parked.`;
  if (all === 0) {
    return { tone: 'plain', shape: 'pending', sentence: 'Nobody has subscribed yet.', more: may('manage') ? html`<a href="/subscriptions/new">Make a subscription</a>, then send an event.` : 'Events are accepted, and go nowhere until somebody subscribes.' };
  }
  if (count > 0) {
    const worst = [...broken].sort((a, b) => failedSince(a) - failedSince(b))[0];
    const sentence = html`${count === 1 ? 'One endpoint is failing' : `${number(count)} endpoints are failing`}${count === all ? html`: all there are` : ''}; ${count === 1 ? 'it has had no success' : html`the worst, <a href="/endpoints/${worst.id}">${host(worst.url)}</a>, has had no success`} ${worst.lastSuccessAt ? `for ${age(worst.lastSuccessAt, now)}` : 'ever'}.`;
    return { tone: 'bad', shape: 'failing', sentence, more: html`${held} ${count === 1 ? html`<a href="/endpoints/${worst.id}">See what it answers</a>` : html`<a href="/endpoints?sort=failures">See all that fail</a>`}, send a test, tell the receiver’s owner. ${all - count - hand > 0 ? `The other ${number(all - count - hand)} ${all - count - hand === 1 ? 'is' : 'are'} not held up.` : ''}` };
  }
  if (hand > 0) {
    return { tone: 'warn', shape: 'disabled', sentence: `Everything is being delivered, but for ${plural(hand, 'endpoint')} that somebody switched off.`, more: html`${held} <a href="/endpoints?sort=state">See which</a>, and enable what may go on.` };
  }
  return { tone: 'good', shape: 'delivered', sentence: 'Everything is being delivered.', more: behind === 0 ? held : html`${held} <a href="/messages?status=waiting,parked">See which</a>; they go on by themselves.` };
}

function failedSince(endpoint) {
  return endpoint.lastSuccessAt ? Date.parse(endpoint.lastSuccessAt) : 0;
}

function Figures() {
  const { now: figures, history } = useLive();
  const recent = history.slice(-10);
  const mean = (name) => (recent.length === 0 ? null : recent.reduce((sum, one) => sum + one[name], 0) / recent.length);
  const at = (name) => (figures === null ? null : figures[name]);
  const states = figures === null ? { enabled: 0, disabled: 0, frozen: 0 } : figures.endpoints;
  return html`<div class="figures">
    <${Group} title="A second, over the last ten" span="4" items=${[['Accepted', rate(mean('accepted'))], ['Delivered', rate(mean('delivered')), 'delivered', 'good'], ['Failing', rate(mean('failed')), 'failing', 'bad']]} />
    <${Group} title="From acceptance to delivery, last minute" span="4" items=${[['p50', latency(at('p50Millis'))], ['p95', latency(at('p95Millis'))], ['p99', latency(at('p99Millis'))]]} />
    <section class="figure-group span-4" aria-label="Endpoints by state"><h2>Endpoints by state</h2>
      <${Parts} label="Endpoints by state" parts=${[
        { name: 'enabled', value: states.enabled, tone: 'good', href: '/endpoints?state=enabled' },
        { name: 'disabled', value: states.disabled, tone: 'warn', href: '/endpoints?state=disabled' },
        { name: 'frozen', value: states.frozen, tone: 'cold', href: '/endpoints?state=frozen' },
      ]} /></section>
    <${Group} title="Messages" span="12" items=${[
      ['Pending', messages('pending', at('pending')), 'pending', 'plain'], ['Waiting for a retry', messages('waiting', at('waiting')), 'waiting', 'warn'],
      ['Parked', messages('parked', at('parked')), 'parked', 'cold'], ['Dropped today', messages('dropped', at('droppedToday')), 'dropped', 'bad'],
    ]} />
  </div>`;
}

function messages(status, count) {
  return html`<a href="/messages?status=${status}">${count !== null && count >= 1_000_000 ? short(count) : number(count)}</a>`;
}

function Group({ title, span, items }) {
  return html`<section class="figure-group span-${span}" aria-label=${title}><h2>${title}</h2><dl class="figure-row figure-row-${items.length}">${items.map(([name, value, shape, tone]) => html`<div class="figure ${tone ? `tone-${tone}` : ''}" key=${name}><dt>${shape && html`<${Shape} name=${shape} />`}${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

function LiveChart() {
  const { history, state } = useLive();
  const times = history.map((one) => Date.parse(one.at));
  const last = times.length === 0 ? 0 : times[times.length - 1];
  // At first what there is fills the width.
  const shown = Math.min(LIVE_MILLIS, Math.max(30_000, last - times[0] || 0));
  const values = (name) => history.map((one) => one[name]);
  return html`<${LineChart} label="Accepted, delivered and failed in each of the last seconds" times=${times} from=${last - shown} to=${last} gap=${3500} height=${170} timeText=${secondTime}
    empty=${state === 'disconnected' ? 'The server is not heard.' : 'The first figures come in a moment.'}
    series=${[
      { name: 'delivered', values: values('delivered'), tone: 'good', area: true },
      { name: 'accepted', values: values('accepted'), tone: 'info', line: 'dotted' },
      { name: 'failed', values: values('failed'), tone: 'bad', line: 'dashed' },
    ]} />`;
}

function Past() {
  const [span, setSpan] = useState('hour');
  const load = useLoad(() => get('/v1/activity', { span }), [span], { every: span === 'hour' ? 15_000 : 60_000, keep: true });
  const tabs = html`<${Tabs} label="Span" value=${span} onChange=${setSpan} items=${[['hour', 'Last hour'], ['day', 'Last day']]} />`;
  const step = load.data && load.data.stepSeconds === 900 ? '15 minutes' : 'minute';
  return html`<div class="columns">
    <${Card} title="Deliveries and failures" aside=${tabs}><${Loaded} load=${load} rows=${6}>${(data) => html`<${Deliveries} data=${data} step=${step} />`}<//><//>
    <${Card} title="From acceptance to delivery" aside=${`in each ${step}`}><${Loaded} load=${load} rows=${6}>${(data) => html`<${Latency} data=${data} />`}<//><//>
  </div>`;
}

function timesOf(data) {
  return data.items.map((item) => Date.parse(item.at));
}

function Deliveries({ data, step }) {
  return html`<${LineChart} label=${`Messages delivered and attempts failed in each ${step}`} times=${timesOf(data)} format=${short} series=${[
    { name: 'delivered', values: data.items.map((item) => item.delivered), tone: 'good', area: true },
    { name: 'failed', values: data.items.map((item) => item.failed), tone: 'bad', line: 'dashed' },
    { name: 'dropped', values: data.items.map((item) => item.dropped), tone: 'warn', line: 'dotted' },
  ]} />`;
}

function Latency({ data }) {
  return html`<${LineChart} label="Time from acceptance to delivery" times=${timesOf(data)} format=${latency} log empty="Nothing was delivered in this time." series=${[
    { name: 'p50', values: data.items.map((item) => item.p50Millis), tone: 'info' },
    { name: 'p95', values: data.items.map((item) => item.p95Millis), tone: 'plain', line: 'dashed' },
    { name: 'p99', values: data.items.map((item) => item.p99Millis), tone: 'plain', line: 'dotted' },
  ]} />`;
}

function Failing({ data }) {
  const shown = data.items.slice(0, SHOWN);
  return html`<ul class="rule-list">${shown.map((endpoint) => html`<li class="failing" key=${endpoint.id}>
      <a class="wrap-anywhere" href="/endpoints/${endpoint.id}">${host(endpoint.url)}</a>
      <${StateBadge} state=${endpoint.state === 'enabled' ? 'failing' : endpoint.state} />
      <p class="failing-text"><span>${endpoint.state === 'enabled' ? `${number(endpoint.consecutiveFailures)} failures in a row.` : reasonText(endpoint.reason, endpoint.state)} </span><span>Last success: ${endpoint.lastSuccessAt ? html`<${Ago} time=${endpoint.lastSuccessAt} />` : 'never'}; ${plural(held(endpoint), 'message')} held${endpoint.nextProbeAt ? html`; next probe <${Countdown} time=${endpoint.nextProbeAt} past="due" />` : ''}.</span></p>
      <p class="failing-text">${advice(endpoint)}</p>
    </li>`)}</ul>
    ${(data.items.length > SHOWN || data.more) && html`<p class="card-more"><${Button} small href="/endpoints?sort=failures">See all that fail<//></p>`}`;
}

function Timeline({ items }) {
  const [count, setCount] = useState(8);
  return html`<ol class="timeline">${items.slice(0, count).map((change) => html`<li key=${change.at + change.endpoint} class="tone-${{ enabled: 'good', disabled: 'warn', frozen: 'cold' }[change.state]}">
      <${Shape} name=${change.state} /><div><a class="clip" href="/endpoints/${change.endpoint}" title=${change.url}>${host(change.url)}</a><div>${change.state}: ${reasonText(change.reason, change.state)}</div><small><${Ago} time=${change.at} /></small></div></li>`)}</ol>
    ${items.length > count && html`<p class="card-more"><${Button} small onClick=${() => setCount(30)}>Show more<//></p>`}`;
}
