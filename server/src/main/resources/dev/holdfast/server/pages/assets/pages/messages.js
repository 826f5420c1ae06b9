// The page /messages: a search over messages. What is asked stands in the address, so that it can be linked to.
import { html, useState } from '../lib/html.js';
import { get } from '../lib/api.js';
import { usePages } from '../lib/load.js';
import { useQuery, navigate } from '../lib/router.js';
import { may } from '../lib/session.js';
import { number, dropText } from '../lib/format.js';
import { useUrls } from '../lib/names.js';
import { PageHeader, Card, Loaded, Empty, StatusBadge, Ago, Button, Countdown } from '../parts/basics.js';
import { Table, More, Filters } from '../parts/table.js';
import { TextField, Select } from '../parts/form.js';
import { EndpointPick, EndpointLink, Span, SPAN, rangeOf, Fold } from '../parts/look.js';

const ASKED = { status: '', endpoint: '', subscription: '', event: '', type: '', subject: '', ...SPAN };
const STATUSES = [
  ['', 'All'], ['pending,waiting,parked', 'Unfinished'], ['pending', 'Pending'], ['waiting', 'Waiting'], ['parked', 'Parked'],
  ['delivered', 'Delivered'], ['dropped', 'Dropped'],
];
const PAGES = { msg: 'messages', evt: 'events', ep: 'endpoints', sub: 'subscriptions', rpl: 'replays' };

export default function Messages() {
  const [asked, ask] = useQuery(ASKED);
  const { status, endpoint, subscription, event, type, subject, last, since, until } = asked;
  const list = usePages(
    (cursor) => get('/v1/messages', { status, endpoint, subscription, event, type, subject, ...rangeOf(asked), cursor, limit: 50 }),
    [status, endpoint, subscription, event, type, subject, last, since, until],
    { every: 10_000 },
  );
  const urls = useUrls((list.items || []).map((one) => one.endpoint));
  const filtered = Object.entries(ASKED).some(([name, absent]) => asked[name] !== absent);
  const clear = () => ask(ASKED);
  const options = STATUSES.some(([key]) => key === status) ? STATUSES : [...STATUSES, [status, status.replaceAll(',', ', ')]];
  return html`
    <${PageHeader} title="Messages" sub="Each is one event for one subscription: what gets delivered."><${Jump} /><//>
    <${Card} flush>
      <${Filters}>
        <${Select} label="Status" compact value=${status} onChange=${(value) => ask({ status: value })} options=${options} />
        <${Span} label="Created" values=${asked} onChange=${ask} />
        <${TextField} label="Type" type="search" compact mono wait=${400} value=${type} onInput=${(value) => ask({ type: value })} placeholder="order.*" />
        <${TextField} label="Subject" type="search" compact mono wait=${400} value=${subject} onInput=${(value) => ask({ subject: value })} placeholder="order-77" />
        <${EndpointPick} compact value=${endpoint} onPick=${(value) => ask({ endpoint: value })} />
        <div class="filters-rest"><${Fold} title="By event or subscription" open=${event !== '' || subscription !== ''}>
          <div class="filters-row">
            <${TextField} label="Event id" type="search" compact mono wait=${400} value=${event} onInput=${(value) => ask({ event: value.trim() })} placeholder="evt_… or your own id" />
            <${TextField} label="Subscription id" type="search" compact mono wait=${400} value=${subscription} onInput=${(value) => ask({ subscription: value.trim() })} placeholder="sub_…" />
          </div>
        <//>
        ${filtered && html`<${Button} small onClick=${clear}>Clear all<//>`}</div>
      <//>
      <${Loaded} load=${list} rows=${8} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${filtered
        ? html`<${Empty} title="No message fits"><p>Ask for less, or look at a longer time.</p><${Button} small onClick=${clear}>Clear all filters<//><//>`
        : html`<${Empty} title="No messages yet"><p>A message is made for each subscription that wants an event.${may('manage') && html` <a href="/subscriptions/new">Make a subscription</a>${may('publish') ? html`, then <a href="/events?send=1">send a test event</a>.` : '.'}`}</p><//>`}>
        ${(data) => html`
          <${Table} label="Messages" rows=${data.items} keyOf=${(row) => row.id} columns=${[
            { name: 'type', title: 'Message', main: true, cell: (row) => html`<a class="two-lines" href="/messages/${row.id}"><span class="breakable clamp">${row.type}</span><code class="quiet">${row.id}</code></a>` },
            { name: 'status', title: 'Status', cell: (row) => html`<${StatusBadge} status=${row.status} />` },
            { name: 'subject', title: 'Subject', cell: (row) => row.subject === null ? html`<span class="quiet">–</span>` : html`<span class="subject clamp" title=${row.subject}>${row.subject}</span>` },
            { name: 'endpoint', title: 'Endpoint', wide: true, cell: (row) => html`<${EndpointLink} id=${row.endpoint} url=${urls(row.endpoint)} />` },
            { name: 'attempts', title: 'Attempts', numeric: true, cell: (row) => number(row.attempts) },
            { name: 'next', title: 'Next', cell: (row) => next(row) },
            { name: 'created', title: 'Created', cell: (row) => html`<${Ago} time=${row.createdAt} />` },
          ]} />
          <${More} list=${list} noun="messages" />`}
      <//>
    <//>`;
}

function next(row) {
  if (row.status === 'waiting') {
    return html`<${Countdown} time=${row.nextAttemptAt} past="due" />`;
  }
  if (row.status === 'parked') {
    return html`<span class="quiet nowrap">held back</span>`;
  }
  return row.status === 'dropped' ? html`<span class="quiet" title=${dropText(row.reason)}>${row.reason}</span>` : html`<span class="quiet">–</span>`;
}

/** Goes to what an id names. */
function Jump() {
  const [id, setId] = useState('');
  const go = (event) => {
    event.preventDefault();
    const wanted = id.trim();
    if (wanted !== '') {
      const kind = /^([a-z]+)_[0-9A-Z]{13}$/.exec(wanted);
      navigate(`/${(kind && PAGES[kind[1]]) || 'events'}/${encodeURIComponent(wanted)}`);
    }
  };
  return html`<form class="jump" role="search" aria-label="By id" onSubmit=${go}>
    <${TextField} label="Go to an id" hideLabel type="search" compact mono value=${id} onInput=${setId} placeholder="msg_… or evt_…" /><${Button} type="submit">Go<//>
  </form>`;
}
