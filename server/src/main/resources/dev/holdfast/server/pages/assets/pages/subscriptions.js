// The page /subscriptions: who wants which events.
import { html, useState, useMemo } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { useLoad, usePages, useAction } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { may } from '../lib/session.js';
import { host, number, plural } from '../lib/format.js';
import { PageHeader, Card, Loaded, Empty, StatusBadge, StateBadge, Ago, Button, ErrorBox, notify } from '../parts/basics.js';
import { Table, More, Filters } from '../parts/table.js';
import { TextField, Select } from '../parts/form.js';

export default function Subscriptions() {
  const [asked, ask] = useQuery({ q: '', state: '' });
  const list = usePages((cursor) => get('/v1/subscriptions', { cursor, limit: 200 }), []);
  const endpoints = useLoad(() => get('/v1/endpoints', { limit: 1000 }), []);
  const states = useMemo(() => new Map((endpoints.data?.items || []).map((one) => [one.id, one.state])), [endpoints.data]);
  const [busy, setBusy] = useState('');
  const turn = useAction(async (row) => {
    setBusy(row.id);
    try {
      const changed = await post(`/v1/subscriptions/${row.id}/${row.paused ? 'resume' : 'pause'}`);
      list.set({ items: list.items.map((one) => (one.id === row.id ? changed : one)), next: list.next, deep: list.deep });
      notify(changed.paused ? 'Paused: its messages are parked, and their deadlines run on.' : 'Resumed: its parked messages are due.');
    } finally {
      setBusy('');
    }
  });
  const fits = (row) => {
    const text = asked.q.toLowerCase();
    return (text === '' || row.id.toLowerCase() === text || row.url.toLowerCase().includes(text) || row.types.some((one) => one.toLowerCase().includes(text)) || (row.subject || '').toLowerCase().includes(text))
      && (asked.state === '' || stateOf(row) === asked.state);
  };
  return html`
    <${PageHeader} title="Subscriptions" sub="Wishes: these types, this subject or any, these filters, to this URL.">
      ${may('manage') && html`<${Button} kind="primary" href="/subscriptions/new">New subscription<//>`}
    <//>
    ${turn.error && html`<${ErrorBox} error=${turn.error} />`}
    <${Card} flush>
      <${Filters}>
        <${TextField} label="Find" type="search" compact mono wait=${150} value=${asked.q} onInput=${(q) => ask({ q })} placeholder="URL, type or subject" />
        <${Select} label="State" compact value=${asked.state} onChange=${(state) => ask({ state })} options=${[['', 'All'], ['active', 'Active'], ['paused', 'Paused'], ['gone', 'Answered 410 Gone']]} />
      <//>
      <${Loaded} load=${list} rows=${8} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${html`<${Empty} title="No subscriptions yet"><p>A subscription sends events to a URL as they come.</p>${may('manage') && html`<${Button} small kind="primary" href="/subscriptions/new">Make the first one<//>`}<//>`}>
        ${(data) => {
          const rows = data.items.filter(fits);
          return html`${rows.length === 0
            ? html`<${Empty} title="None of ${plural(data.items.length, 'subscription')} fits"><${Button} small onClick=${() => ask({ q: '', state: '' })}>Show all<//><//>`
            : html`<${Table} label="Subscriptions" rows=${rows} keyOf=${(row) => row.id} columns=${[
              { name: 'url', title: 'URL', main: true, wide: true, cell: (row) => html`<a class="two-lines" href="/subscriptions/${row.id}"><span class="breakable">${host(row.url)}</span><code class="quiet">${row.id}</code></a>` },
              { name: 'state', title: 'State', cell: (row) => html`<span class="lines"><${SubscriptionState} row=${row} />${states.has(row.endpoint) && states.get(row.endpoint) !== 'enabled' && html`<a class="plain-link" href="/endpoints/${row.endpoint}" title="The state of its endpoint"><${StateBadge} state=${states.get(row.endpoint)} /></a>`}</span>` },
              { name: 'types', title: 'Types', cell: (row) => html`<${Types} types=${row.types} />` },
              { name: 'subject', title: 'Narrowed by', cell: (row) => narrowed(row) },
              { name: 'format', title: 'Format', cell: (row) => row.format },
              { name: 'created', title: 'Created', cell: (row) => html`<${Ago} time=${row.createdAt} />` },
              may('manage') && { name: 'turn', title: 'Pause or resume', hideTitle: true, cell: (row) => html`<${Button} small busy=${busy === row.id} onClick=${() => turn.run(row)} label="${row.paused ? 'Resume' : 'Pause'} ${host(row.url)}">${row.paused ? 'Resume' : 'Pause'}<//>` },
            ].filter(Boolean)} />`}
            ${data.next && (asked.q !== '' || asked.state !== '') && html`<p class="more hint">Only the ${number(data.items.length)} that are loaded were looked through. Show more to look further.</p>`}
            <${More} list=${list} noun="subscriptions" />`;
        }}
      <//>
    <//>`;
}

function stateOf(row) {
  return row.paused ? 'paused' : row.goneAt ? 'gone' : 'active';
}

export function SubscriptionState({ row }) {
  return row.paused
    ? html`<${StatusBadge} status="paused" title="Its messages are parked, and their deadlines run on" />`
    : row.goneAt ? html`<${StatusBadge} status="failing" text="gone" title="The receiver answered 410 Gone" />` : html`<${StatusBadge} status="active" title="Its messages are sent" />`;
}

export function Types({ types, most = 3 }) {
  return html`<span class="types">${types.slice(0, most).map((one) => html`<code key=${one}>${one}</code>`)}${types.length > most && html`<span class="quiet" title=${types.slice(most).join('\n')}>and ${types.length - most} more</span>`}</span>`;
}

function narrowed(row) {
  const parts = [row.subject !== null && 'subject', row.filters.length > 0 && plural(row.filters.length, 'filter')].filter(Boolean);
  return parts.length === 0 ? html`<span class="quiet">–</span>` : parts.join(', ');
}
