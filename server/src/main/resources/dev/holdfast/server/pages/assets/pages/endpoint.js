// One endpoint: how it is, what became of its last attempts, and what can be done about it.
import { html, useMemo, useState } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { may } from '../lib/session.js';
import { gather, useAction, useLoad } from '../lib/load.js';
import { useChanges } from '../lib/live.js';
import { navigate } from '../lib/router.js';
import { advice, day, errorText, host, latency, number, percent, plural, reasonText, spanStart } from '../lib/format.js';
import {
  Age, Ago, Button, Card, Confirm, Copy, Countdown, Empty, ErrorBox, Facts, Id, JsonView, LoadError, Loaded, Loading, Note, PageHeader, Shape, StateBadge, StatusBadge, Tabs, notify,
} from '../parts/basics.js';
import { Table } from '../parts/table.js';
import { Scatter } from '../parts/charts.js';
import { Limits, failureRate, held, useLimits } from './endpoints.js';

const ATTEMPTS = 500;
const SPANS = { minutes: 10 * 60_000, hour: 3_600_000, day: 86_400_000 };
const MESSAGES = 10;
const SUBSCRIPTIONS = 100;

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
  // A call looks at so many rows only, and may find nothing though there is more: a few are made.
  const attempts = useLoad((signal) => {
    const since = span === '' ? '' : spanStart(SPANS[span]);
    return gather((cursor) => get(`${path}/attempts`, { limit: ATTEMPTS, since, cursor }), { most: ATTEMPTS, signal });
  }, [id, span], { every: 5000, keep: true });
  const messages = useLoad((signal) => gather((cursor) => get('/v1/messages', { endpoint: id, limit: MESSAGES, cursor }), { most: MESSAGES, signal }), [id], { every: 5000 });
  const subscriptions = useLoad(() => get('/v1/subscriptions', { endpoint: id, limit: SUBSCRIPTIONS }), [id]);
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
  useChanges(() => {
    load.reload();
    changes.reload();
  }, (change) => change.endpoint === id);
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
  // How an endpoint that is enabled came to be so says nothing about why it fails now.
  const why = endpoint.state === 'enabled' && !endpoint.goneAt ? `${plural(endpoint.consecutiveFailures, 'failure')} in a row.` : reasonText(endpoint.reason, endpoint.state);
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
    <${LoadError} load=${load} />
    ${test.error && html`<${ErrorBox} error=${test.error} />`}
    ${outcome !== null && html`<${TestResult} outcome=${outcome} onClose=${() => setOutcome(null)} />`}
    ${todo !== '' && html`<${Note} kind=${endpoint.state === 'enabled' && !endpoint.goneAt ? 'info' : 'warn'}><strong>${why}</strong> ${todo}<//>`}
    <div class="columns columns-wide-left">
      <${Card} title="Now"><${Now} endpoint=${endpoint} limits=${limits} /><//>
      <${Card} title="Changes of state">
        <${Loaded} load=${changes} empty=${(data) => data.items.length === 0} whenEmpty=${html`<p class="quiet">None since it was created.</p>`}>${(data) => html`<${History} items=${data.items} />`}<//>
      <//>
    </div>
    <${Card} title="Attempts" aside=${html`<${Tabs} label="Which attempts" value=${span} onChange=${setSpan} items=${[['', `Newest ${number(ATTEMPTS)}`], ['day', 'Day'], ['hour', 'Hour'], ['minutes', '10 minutes']]} />`}>
      <${Loaded} load=${attempts} rows=${6}>${(data) => html`<${Attempts} items=${data.items} limits=${limits} cut=${Boolean(data.next)} newest=${span === ''} />`}<//>
    <//>
    <div class="columns columns-wide-left">
      <${Card} title="Last messages" flush aside=${html`<a href="/messages?endpoint=${id}">All its messages</a>`}>
        <${Loaded} load=${messages} empty=${(data) => data.items.length === 0} whenEmpty=${messages.data && messages.data.next
          ? html`<${Empty} title="None among the newest messages.">Only so many were looked at. <a href="/messages?endpoint=${id}">Look further</a><//>`
          : html`<${Empty} title="No messages yet.">They come when an event matches one of its subscriptions.<//>`}>${(data) => html`<${Messages} items=${data.items} part=${Boolean(data.next) && data.items.length < MESSAGES} />`}<//>
      <//>
      <${Card} title="Subscriptions that use it" flush>
        <${Loaded} load=${subscriptions} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="No subscription uses it.">Messages that it has are dropped with their subscription.<//>`}>${(data) => html`<${Subscriptions} data=${data} />`}<//>
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
    ['Failed lately', html`<span class="two-lines"><span>${number(endpoint.sinceEnabled.failures)} of ${number(endpoint.sinceEnabled.attempts)} (${percent(failureRate(endpoint))})</span><small>of its last attempts since it was enabled</small></span>`],
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

function Attempts({ items, limits, cut, newest }) {
  const points = useMemo(() => items.map((attempt) => ({
    at: Date.parse(attempt.at), value: attempt.durationMillis, outcome: attempt.outcome, href: `/messages/${attempt.message}`,
    text: `${attempt.outcome === 'success' ? `answered ${attempt.status}` : errorText(attempt.error, attempt.status)}, attempt ${attempt.number}`,
  })), [items]);
  const full = items.length >= ATTEMPTS;
  const part = !cut || (full && newest) ? '' : full ? `; only the newest ${number(ATTEMPTS)} are drawn` : '; only so many rows were looked at, and there may be more';
  const nothing = cut ? 'None among the attempts that were looked at. Choose a shorter time.' : newest ? 'Nothing was sent to it yet, or it is too old to be kept.' : 'Nothing was sent to it in this time.';
  return html`<${Scatter} label="Attempts over time" points=${points}
    limit=${{ value: limits.timeoutMillis, text: `${latency(limits.timeoutMillis)}: given up${limits.known ? '' : ' (usual limit)'}` }} empty=${nothing} />
    <p class="quiet">How long each attempt took until its answer${part}. Arrow keys go through them, Enter or a click opens the message.</p>`;
}

function Messages({ items, part }) {
  return html`<${Table} label="Last messages" rows=${items} keyOf=${(row) => row.id} columns=${[
    { name: 'type', title: 'Type', main: true, cell: (row) => html`<span class="two-lines"><a href="/messages/${row.id}">${row.type}</a>${row.subject && html`<small class="wrap-anywhere">${row.subject}</small>`}</span>` },
    { name: 'status', title: 'Status', cell: (row) => html`<${StatusBadge} status=${row.status} />` },
    { name: 'attempts', title: 'Attempts', numeric: true, cell: (row) => number(row.attempts) },
    { name: 'next', title: 'Next', cell: (row) => (row.nextAttemptAt ? html`<${Countdown} time=${row.nextAttemptAt} past="due" />` : '') },
    { name: 'created', title: 'Created', cell: (row) => html`<${Ago} time=${row.createdAt} />` },
  ]} />
  ${part && html`<p class="more quiet">Only so many rows were looked at, and there may be more.</p>`}`;
}

function Subscriptions({ data }) {
  return html`<${Table} label="Subscriptions" rows=${data.items} keyOf=${(row) => row.id} columns=${[
    { name: 'id', title: 'Subscription', main: true, cell: (row) => html`<a href="/subscriptions/${row.id}"><code>${row.id}</code></a>` },
    { name: 'types', title: 'Types', cell: (row) => html`<span class="row">${row.types.slice(0, 4).map((type) => html`<span class="chip" key=${type}>${type}</span>`)}${row.types.length > 4 && html`<span class="quiet">and ${row.types.length - 4} more</span>`}</span>` },
    { name: 'paused', title: 'Sends', cell: (row) => html`<${StatusBadge} status=${row.paused ? 'paused' : 'active'} text=${row.paused ? 'paused' : 'yes'} />` },
  ]} />
  ${data.next && html`<p class="more quiet">Only the first ${number(SUBSCRIPTIONS)} are shown.</p>`}`;
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
