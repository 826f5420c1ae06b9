// One endpoint: how it is, what became of its last attempts, and what can be done about it.
import { html, useMemo, useState } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { may } from '../lib/session.js';
import { useAction, useLoad } from '../lib/load.js';
import { useChange } from '../lib/live.js';
import { now } from '../lib/clock.js';
import { navigate } from '../lib/router.js';
import { advice, day, errorText, host, latency, number, percent, plural, reasonText } from '../lib/format.js';
import {
  Age, Ago, Button, Card, Confirm, Copy, Countdown, Empty, ErrorBox, Facts, Id, JsonView, Loaded, Loading, Note, PageHeader, Shape, StateBadge, StatusBadge, Tabs, notify,
} from '../parts/basics.js';
import { Table } from '../parts/table.js';
import { Scatter } from '../parts/charts.js';
import { Limits, failureRate, held, useLimits } from './endpoints.js';

const ATTEMPTS = 500;
const SPANS = { minutes: 10 * 60_000, hour: 3_600_000, day: 86_400_000 };
const SUBSCRIPTIONS_PAGE = 500;
const SUBSCRIPTIONS_PAGES = 4;

// What the buttons do, as the question before it is done.
const ACTIONS = {
  enable: {
    title: 'Enable this endpoint?', button: 'Enable', kind: 'primary', done: 'Enabled. Deliveries begin with one at a time.',
    text: (endpoint) => `Its ${plural(endpoint.waiting + endpoint.parked, 'waiting or parked message')} become due at once, those with the fewest attempts first, beginning with one in flight. Its failures in a row are counted from 0.`,
  },
  disable: {
    title: 'Disable this endpoint?', button: 'Disable', kind: 'danger', done: 'Disabled. It stays so until it is enabled by hand.',
    text: () => 'Its messages are parked as their time comes, and their deadlines run on. It is not probed: it stays disabled until somebody enables it.',
  },
  freeze: {
    title: 'Freeze this endpoint?', button: 'Freeze', kind: 'danger', done: 'Frozen. Nothing is tried until it is enabled.',
    text: () => 'Nothing is tried any more until somebody enables it. Events go on being accepted for it, and messages are dropped when their deadlines pass.',
  },
  replay: {
    title: 'Replay its dropped messages?', button: 'Replay', kind: 'primary',
    text: () => 'Every dropped message to this endpoint that was not replayed before is sent again, as a new message for its subscription as it is now. Receivers may see things twice: the new messages have new ids.',
  },
};

export default function Endpoint({ params }) {
  const { id } = params;
  const path = `/v1/endpoints/${encodeURIComponent(id)}`;
  const load = useLoad(() => get(path), [id], { every: 3000 });
  const changes = useLoad(() => get(`${path}/changes`, { limit: 50 }), [id], { every: 15_000 });
  const [span, setSpan] = useState('');
  const attempts = useLoad(() => get(`${path}/attempts`, { limit: ATTEMPTS, since: span === '' ? '' : new Date(now() - SPANS[span]).toISOString() }), [id, span], { every: 5000, keep: true });
  const messages = useLoad(() => get('/v1/messages', { endpoint: id, limit: 10 }), [id], { every: 5000 });
  const subscriptions = useLoad(() => subscriptionsOf(id), [id]);
  const limits = useLimits();
  const [asked, setAsked] = useState(null);
  const test = useAction(() => post(`${path}/test`));
  const [outcome, setOutcome] = useState(null);
  const act = useAction(async (name) => {
    if (name === 'replay') {
      const replay = await post('/v1/replays', { endpoint: id, status: ['dropped'] });
      notify('The replay has begun.');
      navigate(`/replays/${replay.id}`);
      return;
    }
    load.set(await post(`${path}/${name}`));
    changes.reload();
    notify(ACTIONS[name].done);
    setAsked(null);
  });
  useChange((change) => {
    if (change.endpoint === id) {
      load.reload();
      changes.reload();
    }
  });
  const endpoint = load.data;
  if (endpoint === undefined) {
    return html`<${PageHeader} title="Endpoint" back=${{ href: '/endpoints', text: 'Endpoints' }} />
      ${load.error ? (load.error.status === 404 ? html`<${Empty} title="There is no such endpoint.">It is not this tenant’s, or it was deleted with its last subscription.<//>` : html`<${ErrorBox} error=${load.error} retry=${load.reload} />`) : html`<${Loading} rows=${8} />`}`;
  }
  const ask = (name) => {
    act.clear();
    setAsked(name);
  };
  const runTest = async () => {
    setOutcome(null);
    setOutcome((await test.run()) || null);
    attempts.reload();
  };
  const todo = advice(endpoint);
  const question = asked === null ? null : ACTIONS[asked];
  return html`<${PageHeader} title=${host(endpoint.url)} back=${{ href: '/endpoints', text: 'Endpoints' }} badge=${html`<${StateBadge} state=${endpoint.state} />`}
      sub=${html`<code>${endpoint.url}</code> <${Copy} text=${endpoint.url} label="Copy the URL" />`}>
      ${may('manage') && html`
        <${Button} onClick=${runTest} busy=${test.busy}>Send a test<//>
        ${endpoint.state !== 'enabled' && html`<${Button} kind="primary" onClick=${() => ask('enable')}>Enable<//>`}
        <${Button} onClick=${() => ask('replay')}>Replay dropped<//>
        ${endpoint.state === 'enabled' && html`<${Button} kind="danger" onClick=${() => ask('disable')}>Disable<//>`}
        ${endpoint.state !== 'frozen' && html`<${Button} kind="danger" onClick=${() => ask('freeze')}>Freeze<//>`}`}
    <//>
    ${load.error && html`<${ErrorBox} error=${load.error} retry=${load.reload} />`}
    ${test.error && html`<${ErrorBox} error=${test.error} />`}
    ${outcome !== null && html`<${TestResult} outcome=${outcome} onClose=${() => setOutcome(null)} />`}
    ${todo !== '' && html`<${Note} kind=${endpoint.state === 'enabled' && !endpoint.goneAt ? 'info' : 'warn'}><strong>${reasonText(endpoint.reason, endpoint.state)}</strong> ${todo}<//>`}
    <div class="columns columns-wide-left">
      <${Card} title="Now"><${Now} endpoint=${endpoint} limits=${limits} /><//>
      <${Card} title="Changes of state">
        <${Loaded} load=${changes} empty=${(data) => data.items.length === 0} whenEmpty=${html`<p class="quiet">None since it was created.</p>`}>${(data) => html`<${History} items=${data.items} />`}<//>
      <//>
    </div>
    <${Card} title="Attempts" aside=${html`<${Tabs} label="Which attempts" value=${span} onChange=${setSpan} items=${[['', `Newest ${number(ATTEMPTS)}`], ['day', 'Day'], ['hour', 'Hour'], ['minutes', '10 minutes']]} />`}>
      <${Loaded} load=${attempts} rows=${6}>${(data) => html`<${Attempts} items=${data.items} limits=${limits} cut=${Boolean(data.next) && span !== ''} />`}<//>
    <//>
    <div class="columns columns-wide-left">
      <${Card} title="Last messages" flush aside=${html`<a href="/messages?endpoint=${id}">All its messages</a>`}>
        <${Loaded} load=${messages} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="No messages yet.">They come when an event matches one of its subscriptions.<//>`}>${(data) => html`<${Messages} items=${data.items} />`}<//>
      <//>
      <${Card} title="Subscriptions that use it" flush>
        <${Loaded} load=${subscriptions} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title=${subscriptions.data && subscriptions.data.whole ? 'No subscription uses it.' : 'None of the newest uses it.'}>Messages that it has are dropped with their subscription.<//>`}>${(data) => html`<${Subscriptions} data=${data} />`}<//>
      <//>
    </div>
    <${Confirm} open=${question !== null} title=${question && question.title} text=${question && question.text(endpoint)} action=${question && question.button} kind=${question && question.kind}
      busy=${act.busy} error=${act.error} onConfirm=${() => act.run(asked)} onCancel=${() => setAsked(null)}><p class="mono wrap-anywhere">${endpoint.url}</p><//>`;
}

function Now({ endpoint, limits }) {
  const of = (status, count) => (count === 0 ? html`<span class="quiet">0</span>` : html`<a href="/messages?endpoint=${endpoint.id}&status=${status}">${number(count)}</a>`);
  const attempts = endpoint.successes + endpoint.failures;
  return html`<${Facts} items=${[
    ['State', html`<span class="two-lines"><${StateBadge} state=${endpoint.state} /><small>for <${Age} time=${endpoint.since} /></small></span>`],
    ['Why', reasonText(endpoint.reason, endpoint.state)],
    ['Last success', endpoint.lastSuccessAt ? html`<${Ago} time=${endpoint.lastSuccessAt} />` : 'never'],
    endpoint.state === 'disabled' && ['Next probe', endpoint.nextProbeAt ? html`<${Countdown} time=${endpoint.nextProbeAt} past="due, with the next message" />` : 'none: disabled by hand'],
    ['Against the limits', html`<${Limits} endpoint=${endpoint} limits=${limits} />`, limits.known ? undefined : 'Your key may not see the server’s settings: these are the limits that Holdfast comes with.'],
    ['Failed since enabled', `${number(endpoint.sinceEnabled.failures)} of ${number(endpoint.sinceEnabled.attempts)} (${percent(failureRate(endpoint))})`],
    ['Failed over its life', `${number(endpoint.failures)} of ${number(attempts)} (${percent(attempts === 0 ? null : endpoint.failures / attempts)})`],
    ['Pending', of('pending', endpoint.pending)],
    ['Waiting for a retry', of('waiting', endpoint.waiting)],
    ['Parked', of('parked', endpoint.parked)],
    ['Limit of requests', endpoint.rateLimit === null ? 'none' : `${endpoint.rateLimit} a second`],
    endpoint.goneAt && ['Answered 410 Gone', html`<${Ago} time=${endpoint.goneAt} />`],
    endpoint.tls && endpoint.tls.certificate && ['Certificate shown to it', html`<span class="two-lines"><span>${endpoint.tls.certificate.subject}</span><small>until ${day(endpoint.tls.certificate.notAfter)}</small></span>`],
    endpoint.tls && endpoint.tls.roots.length > 0 && ['Also trusted', endpoint.tls.roots.map((root) => root.subject).join('; ')],
    ['Id', html`<${Id} value=${endpoint.id} copy />`],
  ]} />`;
}

function History({ items }) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, 6);
  return html`<ol class="timeline">${shown.map((change, i) => html`<li key=${`${change.at}${i}`} class="tone-${{ enabled: 'good', disabled: 'warn', frozen: 'cold' }[change.state]}"><${Shape} name=${change.state} /><div><b>${change.state}</b> <small><${Ago} time=${change.at} /></small><div>${reasonText(change.reason, change.state)}</div></div></li>`)}</ol>
    ${items.length > shown.length && html`<p class="card-more"><${Button} small onClick=${() => setAll(true)}>Show all ${number(items.length)}<//></p>`}`;
}

function Attempts({ items, limits, cut }) {
  const points = useMemo(() => items.map((attempt) => ({
    at: Date.parse(attempt.at), value: attempt.durationMillis, outcome: attempt.outcome, href: `/messages/${attempt.message}`,
    text: `${attempt.outcome === 'success' ? `answered ${attempt.status}` : errorText(attempt.error, attempt.status)}, attempt ${attempt.number}`,
  })), [items]);
  return html`<${Scatter} label="Attempts over time" points=${points}
    limit=${{ value: limits.timeoutMillis, text: `${latency(limits.timeoutMillis)}: given up` }} empty="Nothing was sent to it in this time." />
    <p class="quiet">How long each attempt took until its answer${cut ? `; only the newest ${number(items.length)} are drawn` : ''}. Arrow keys go through them, Enter or a click opens the message.</p>`;
}

function Messages({ items }) {
  return html`<${Table} label="Last messages" rows=${items} keyOf=${(row) => row.id} columns=${[
    { name: 'type', title: 'Type', main: true, cell: (row) => html`<span class="two-lines"><a href="/messages/${row.id}">${row.type}</a>${row.subject && html`<small class="wrap-anywhere">${row.subject}</small>`}</span>` },
    { name: 'status', title: 'Status', cell: (row) => html`<${StatusBadge} status=${row.status} />` },
    { name: 'attempts', title: 'Attempts', numeric: true, cell: (row) => number(row.attempts) },
    { name: 'next', title: 'Next', cell: (row) => (row.nextAttemptAt ? html`<${Countdown} time=${row.nextAttemptAt} past="due" />` : '') },
    { name: 'created', title: 'Created', cell: (row) => html`<${Ago} time=${row.createdAt} />` },
  ]} />`;
}

function Subscriptions({ data }) {
  return html`<${Table} label="Subscriptions" rows=${data.items} keyOf=${(row) => row.id} columns=${[
    { name: 'id', title: 'Subscription', main: true, cell: (row) => html`<a href="/subscriptions/${row.id}"><code>${row.id}</code></a>` },
    { name: 'types', title: 'Types', cell: (row) => html`<span class="row">${row.types.slice(0, 4).map((type) => html`<span class="chip" key=${type}>${type}</span>`)}${row.types.length > 4 && html`<span class="quiet">and ${row.types.length - 4} more</span>`}</span>` },
    { name: 'paused', title: 'Sends', cell: (row) => html`<${StatusBadge} status=${row.paused ? 'paused' : 'active'} text=${row.paused ? 'paused' : 'yes'} />` },
  ]} />
  ${!data.whole && html`<p class="more quiet">Only the newest ${number(SUBSCRIPTIONS_PAGE * SUBSCRIPTIONS_PAGES)} subscriptions were looked at.</p>`}`;
}

/** The API lists subscriptions of all endpoints; those of this one are picked out, from so many pages at most. */
async function subscriptionsOf(id) {
  let cursor;
  let items = [];
  for (let page = 0; page < SUBSCRIPTIONS_PAGES; page++) {
    const answer = await get('/v1/subscriptions', { cursor, limit: SUBSCRIPTIONS_PAGE });
    items = items.concat(answer.items.filter((subscription) => subscription.endpoint === id));
    cursor = answer.next;
    if (!cursor) {
      return { items, whole: true };
    }
  }
  return { items, whole: false };
}

function TestResult({ outcome, onClose }) {
  const ok = outcome.outcome === 'success';
  return html`<${Card} title="The test" aside=${html`<${Button} small onClick=${onClose}>Close<//>`}>
    <div class="stack" role="status">
      <p class="outcome"><${StatusBadge} status=${outcome.outcome} text=${ok ? `It answered ${outcome.status}` : errorText(outcome.error, outcome.status)} /><span class="quiet">in ${latency(outcome.durationMillis)}; health and counts are as before</span></p>
      ${outcome.response !== '' && html`<${JsonView} value=${outcome.response} label="The answer’s body" />`}
    </div>
  <//>`;
}
