// The first page: is everything being delivered, and if not, what is to be done.
import { html, useState } from '../lib/html.js';
import { get } from '../lib/api.js';
import { may } from '../lib/session.js';
import { useLoad } from '../lib/load.js';
import { useChanges, useLive } from '../lib/live.js';
import { useNow } from '../lib/clock.js';
import { advice, age, clockTime, host, latency, latencyTick, number, plural, rate, reasonText, secondTime, short } from '../lib/format.js';
import { Ago, Button, Card, Countdown, Empty, Loaded, PageHeader, Shape, StateBadge, Tabs } from '../parts/basics.js';
import { LineChart, Parts } from '../parts/charts.js';
import { held } from './endpoints.js';

// An endpoint that is enabled counts as failing from so many failures in a row: single ones are everyday.
const FAILING = 5;
const SHOWN = 12;
const LISTED = 100;
const LIVE_MILLIS = 120_000;
// Over how many seconds it is looked at how fast messages go out; how many pending ones are everyday, and how long they may take.
const PACE_SECONDS = 10;
const MANY_PENDING = 100;
const LONG_SECONDS = 60;
// Figures older than that say nothing about now.
const OLD_MILLIS = 10_000;

export default function Overview() {
  const failing = useLoad(loadFailing, [], { every: 5000 });
  const changes = useLoad(() => get('/v1/changes', { limit: 30 }), [], { every: 15_000 });
  useChanges(() => {
    failing.reload();
    changes.reload();
  });
  return html`<${PageHeader} title="Overview" />
    <${Verdict} failing=${failing} />
    <${Figures} />
    <${Card} title="The last two minutes" aside="a second"><${LiveChart} /><//>
    <${Past} />
    <div class="columns columns-wide-left">
      <${Card} title="What needs you"><${Loaded} load=${failing} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="Nothing.">Endpoints that fail again and again, are disabled or frozen are listed here.<//>`}>${(data) => html`<${Failing} data=${data} />`}<//><//>
      <${Card} title="Changes of state"><${Loaded} load=${changes} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="None yet.">When an endpoint is disabled, frozen or works again, it is said here.<//>`}>${(data) => html`<${Timeline} items=${data.items} />`}<//><//>
    </div>`;
}

/** What is not as it should be. The lists may be cut off: each begins with what fails most. */
async function loadFailing() {
  const [frozen, disabled, enabled] = await Promise.all(['frozen', 'disabled', 'enabled'].map((state) => get('/v1/endpoints', { state, sort: 'failures', limit: LISTED })));
  const failing = enabled.items.filter((endpoint) => endpoint.consecutiveFailures >= FAILING);
  const off = [...disabled.items, ...frozen.items];
  const broken = [...off.filter((endpoint) => !byHand(endpoint)), ...failing];
  const hand = off.filter(byHand);
  const cut = Boolean(frozen.next || disabled.next || (enabled.next && failing.length === enabled.items.length));
  return {
    items: [...broken, ...hand], broken, hand, cut,
    any: enabled.items.length + off.length > 0,
    all: !cut && hand.length === 0 && failing.length === enabled.items.length && !enabled.next,
  };
}

function byHand(endpoint) {
  return endpoint.state !== 'enabled' && endpoint.reason === 'operator';
}

/** One sentence: how it stands. */
function Verdict({ failing }) {
  const live = useLive();
  const now = useNow(1000);
  const { tone, shape, sentence, more } = judgeAll(failing, live, now);
  return html`<div class="verdict tone-${tone}"><${Shape} name=${shape} /><div><p class="verdict-text">${sentence}</p><p class="verdict-more">${more}</p></div></div>`;
}

/** How it stands, or that this is not known. */
function judgeAll(failing, live, now) {
  const unknown = (since, more) => ({ tone: 'plain', shape: 'disconnected', sentence: since === null ? 'Not known.' : `Not known since ${clockTime(since)}.`, more });
  if (live.state === 'disconnected') {
    const heard = live.now !== null ? live.now.at : failing.at;
    return unknown(heard, 'The server is not heard: nobody can say from here whether it delivers. What is shown below is from before.');
  }
  if (failing.error !== null) {
    return unknown(failing.at, 'The server does not say which endpoints fail; what is shown below is from before. See the error there.');
  }
  const old = live.now === null || (live.state !== 'live' && now - Date.parse(live.now.at) > OLD_MILLIS);
  if (failing.data === undefined || (old && live.state !== 'refused')) {
    return { tone: 'plain', shape: 'pending', sentence: 'Looking…', more: 'What the server does now is being asked for.' };
  }
  return judge(failing.data, old ? null : live.now, old ? [] : live.history, now);
}

/** `figures` is null where the server gives none; then only the endpoints are judged. */
function judge(failing, figures, history, now) {
  const { broken, hand, cut } = failing;
  const many = (list, word, words) => (cut && list.length >= LISTED ? `At least ${number(list.length)} ${words}` : list.length === 1 ? `One ${word}` : `${number(list.length)} ${words}`);
  const held = figures === null ? 'How many messages wait is not known.' : heldText(figures);
  if (!failing.any) {
    return { tone: 'plain', shape: 'pending', sentence: 'Nobody has subscribed yet.', more: may('manage') ? html`<a href="/subscriptions/new">Make a subscription</a>, then send an event.` : 'Events are accepted, and go nowhere until somebody subscribes.' };
  }
  const stuck = figures === null ? null : stuckText(figures, history);
  if (broken.length > 0) {
    const worst = broken.reduce((a, b) => (b.consecutiveFailures > a.consecutiveFailures ? b : a));
    const silent = worst.lastSuccessAt ? `for ${age(worst.lastSuccessAt, now)}` : 'ever';
    const sentence = broken.length === 1 && !cut
      ? html`One endpoint is failing${failing.all ? ', the only one' : ''}: <a href="/endpoints/${worst.id}">${host(worst.url)}</a> has had no success ${silent}.`
      : html`${many(broken, 'endpoint', 'endpoints')} ${broken.length === 1 ? 'is' : 'are'} failing${failing.all ? ', all there are' : ''}; the worst, <a href="/endpoints/${worst.id}">${host(worst.url)}</a>, failed ${number(worst.consecutiveFailures)} times in a row and has had no success ${silent}.`;
    return { tone: 'bad', shape: 'failing', sentence, more: html`${stuck !== null && `${stuck} `}${held} ${broken.length === 1 && !cut ? html`<a href="/endpoints/${worst.id}">See what it answers</a>` : html`<a href="/endpoints?sort=failures">See all that fail</a>`}, send a test, tell the receiver’s owner.` };
  }
  if (stuck !== null) {
    return { tone: 'warn', shape: 'waiting', sentence: stuck, more: html`${held} <a href="/messages?status=pending">See which are pending</a>${may('look-at-server') ? html`, and on <a href="/cluster">Cluster</a> how the servers are` : ''}. A limit of requests holds messages back too.` };
  }
  const lost = figures !== null && figures.droppedToday > 0 ? html` ${plural(figures.droppedToday, 'message')} ${figures.droppedToday === 1 ? 'was' : 'were'} <a href="/messages?status=dropped">dropped today</a>.` : '';
  if (hand.length > 0) {
    const sentence = cut ? `At least ${number(hand.length)} endpoints are switched off by hand; none that was looked at is failing.` : `Everything is being delivered, but for ${plural(hand.length, 'endpoint')} that somebody switched off.`;
    return { tone: 'warn', shape: 'disabled', sentence, more: html`${held}${lost} <a href="/endpoints?sort=state">See which</a>, and enable what may go on.` };
  }
  if (figures === null) {
    return { tone: 'plain', shape: 'delivered', sentence: 'No endpoint is failing.', more: held };
  }
  if (figures.droppedToday > 0) {
    return { tone: 'warn', shape: 'delivered', sentence: html`Everything is being delivered now.${lost}`, more: html`${held} See why they were dropped; a <a href="/replays">replay</a> sends them again.` };
  }
  const behind = figures.waiting + figures.parked > 0;
  return { tone: 'good', shape: 'delivered', sentence: 'Everything is being delivered.', more: behind ? html`${held} <a href="/messages?status=waiting,parked">See which</a>; they go on by themselves.` : held };
}

function heldText({ pending, waiting, parked }) {
  const parts = [[pending, 'is pending', 'are pending'], [waiting, 'waits for a retry', 'wait for a retry'], [parked, 'is parked', 'are parked']].filter(([count]) => count > 0);
  if (parts.length === 0) {
    return 'No message is pending, waits or is parked.';
  }
  return `${parts.map(([count, one, many], i) => `${i === 0 ? plural(count, 'message') : number(count)} ${count === 1 ? one : many}`).join(', ')}.`;
}

/** Says when messages are pending and are not tried, or not soon; null when they are. */
function stuckText(figures, history) {
  const recent = history.slice(-PACE_SECONDS);
  if (recent.length < PACE_SECONDS || recent.some((one) => one.pending === 0)) {
    return null;
  }
  const pace = recent.reduce((sum, one) => sum + one.delivered + one.failed, 0) / recent.length;
  const pending = plural(figures.pending, 'message');
  if (pace === 0) {
    return `${pending} ${figures.pending === 1 ? 'is' : 'are'} pending, and this server has tried none in the last ${PACE_SECONDS} seconds.`;
  }
  const seconds = figures.pending / pace;
  return figures.pending >= MANY_PENDING && seconds > LONG_SECONDS ? `Deliveries are behind: ${pending} are pending, about ${latency(seconds * 1000)} at this pace.` : null;
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
    empty=${state === 'disconnected' ? 'The server is not heard.' : state === 'refused' ? 'The server gives no live figures now.' : 'The first figures come in a moment.'}
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
    <${Card} title="From acceptance to delivery" aside=${`in each ${step} that is over`}><${Loaded} load=${load} rows=${6}>${(data) => html`<${Latency} data=${data} />`}<//><//>
  </div>`;
}

/** The steps that are over. The one that runs now would look like a collapse. */
function stepsOf(data) {
  const items = data.items.slice(0, -1);
  return { times: items.map((item) => Date.parse(item.at)), of: (name) => items.map((item) => item[name]) };
}

function Deliveries({ data, step }) {
  const { times, of } = stepsOf(data);
  return html`<${LineChart} label=${`Events accepted, messages delivered and dropped, attempts failed in each ${step}`} times=${times} format=${short} series=${[
    { name: 'delivered', values: of('delivered'), tone: 'good', area: true },
    { name: 'accepted', values: of('accepted'), tone: 'info', line: 'dotted' },
    { name: 'failed', values: of('failed'), tone: 'bad', line: 'dashed' },
    { name: 'dropped', values: of('dropped'), tone: 'warn', line: 'dashdot' },
  ]} />`;
}

function Latency({ data }) {
  const { times, of } = stepsOf(data);
  return html`<${LineChart} label="Time from acceptance to delivery" times=${times} format=${latency} tickText=${latencyTick} log empty="Nothing was delivered in this time." series=${[
    { name: 'p50', values: of('p50Millis'), tone: 'info' },
    { name: 'p95', values: of('p95Millis'), tone: 'plain', line: 'dashed' },
    { name: 'p99', values: of('p99Millis'), tone: 'plain', line: 'dotted' },
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
    ${(data.items.length > SHOWN || data.cut) && html`<p class="card-more"><${Button} small href="/endpoints?sort=failures">See all that fail<//></p>`}`;
}

function Timeline({ items }) {
  const [count, setCount] = useState(8);
  return html`<ol class="timeline">${items.slice(0, count).map((change, i) => html`<li key=${`${change.at} ${change.endpoint} ${i}`} class="tone-${{ enabled: 'good', disabled: 'warn', frozen: 'cold' }[change.state]}">
      <${Shape} name=${change.state} /><div><a class="clip" href="/endpoints/${change.endpoint}" title=${change.url}>${host(change.url)}</a><div>${change.state}: ${reasonText(change.reason, change.state)}</div><small><${Ago} time=${change.at} /></small></div></li>`)}</ol>
    ${items.length > count && html`<p class="card-more"><${Button} small onClick=${() => setCount(30)}>Show more<//></p>`}`;
}
