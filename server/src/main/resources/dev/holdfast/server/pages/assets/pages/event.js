// The page /events/{id}: an event as it came, which subscriptions wanted it and why others did not, and its messages.
import { html, useState, useEffect, useMemo } from '../lib/html.js';
import { get } from '../lib/api.js';
import { useLoad, usePages } from '../lib/load.js';
import { may } from '../lib/session.js';
import { number, bytes, host } from '../lib/format.js';
import { getText, member } from '../lib/exact.js';
import { useUrls } from '../lib/names.js';
import { Card, Loaded, Empty, Facts, Id, Ago, Time, StatusBadge, Shape, Tabs, Countdown } from '../parts/basics.js';
import { Table, More } from '../parts/table.js';
import { Code, EndpointLink, Detail } from '../parts/look.js';

const WHY = {
  type: 'None of its types fits.', types: 'None of its types fits.', subject: 'It asks for another subject.', filters: 'Its filters do not hold.', paused: 'It is paused: its messages are parked.',
};
const BACK = { href: '/events', text: 'Events' };

export default function Event({ params }) {
  const { id } = params;
  // The event does not change: it is loaded once, and its messages by themselves.
  const load = useLoad(async (signal) => {
    const text = await getText(`/v1/events/${encodeURIComponent(id)}`, {}, { signal });
    const { messages, ...event } = JSON.parse(text);
    return { ...event, data: member(text, 'data'), previous: member(text, 'previous') };
  }, [id]);
  const header = (event) => ({ title: event.type, sub: html`<${Id} value=${event.id} copy />` });
  return html`<${Detail} load=${load} noun="event" back=${BACK} rows=${10} header=${header}>${(event) => html`<${Shown} event=${event} />`}<//>`;
}

function Shown({ event }) {
  const size = useMemo(() => new TextEncoder().encode((event.data || '') + (event.previous || '')).length, [event]);
  return html`
    <div class="columns">
      <${Card} kind="roomy" title="Body">
        <${Facts} items=${[
          ['Subject', event.subject === null ? html`<span class="quiet">none</span>` : html`<span class="breakable">${event.subject}</span>`],
          ['Occurred', event.occurredAt === null ? html`<span class="quiet">not said</span>` : html`<${Time} time=${event.occurredAt} />`],
          ['Accepted', html`<${Time} time=${event.acceptedAt} /> <span class="quiet">(<${Ago} time=${event.acceptedAt} />)</span>`],
          ['Size', bytes(size)],
        ]} />
        <h3>Data</h3>
        <${Code} text=${event.data ?? ''} label="the data" json tall />
        ${event.previous !== undefined && html`<h3>Previous</h3><${Code} text=${event.previous} label="the state before" json tall />`}
      <//>
      <${Matches} id=${event.id} />
    </div>
    <${Messages} id=${event.id} />`;
}

function Messages({ id }) {
  const [settled, setSettled] = useState(false);
  const list = usePages((cursor) => get('/v1/messages', { event: id, cursor, limit: 100 }), [id], { every: settled ? 0 : 4000 });
  useEffect(() => {
    setSettled(list.items !== undefined && list.items.every((one) => one.status === 'delivered' || one.status === 'dropped'));
  }, [list.items]);
  const urls = useUrls((list.items || []).map((one) => one.endpoint));
  return html`<${Card} title="Messages" flush aside=${list.items?.length > 0 && html`<a href="/messages?event=${encodeURIComponent(id)}">Search in them</a>`}>
    <${Loaded} load=${list} rows=${4} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${html`<${Empty} title="No messages"><p>No subscription wanted it when it was accepted.</p><//>`}>
      ${(data) => html`
        <${Table} label="Messages" rows=${data.items} keyOf=${(row) => row.id} columns=${[
          { name: 'id', title: 'Message', main: true, cell: (row) => html`<${Id} value=${row.id} href="/messages/${row.id}" />` },
          { name: 'status', title: 'Status', cell: (row) => html`<${StatusBadge} status=${row.status} />` },
          { name: 'endpoint', title: 'Endpoint', wide: true, cell: (row) => html`<${EndpointLink} id=${row.endpoint} url=${urls(row.endpoint)} />` },
          { name: 'attempts', title: 'Attempts', numeric: true, cell: (row) => number(row.attempts) },
          { name: 'next', title: 'Next', cell: (row) => row.nextAttemptAt ? html`<${Countdown} time=${row.nextAttemptAt} past="due" />` : html`<span class="quiet">${row.reason || '–'}</span>` },
        ]} />
        <${More} list=${list} noun="messages" />`}
    <//>
  <//>`;
}

function Matches({ id }) {
  const [which, setWhich] = useState('all');
  const load = usePages((cursor) => get(`/v1/events/${encodeURIComponent(id)}/matches`, { cursor }), [id]);
  const items = load.items || [];
  const more = load.next ? '+' : '';
  const yes = items.filter((one) => one.matched).length;
  const shown = items.filter((one) => which === 'all' || one.matched === (which === 'yes'));
  return html`<${Card} kind="roomy" title="Who wants it" aside=${items.length > 0 && html`<${Tabs} label="Which subscriptions" value=${which} onChange=${setWhich} items=${[['all', `All ${items.length}${more}`], ['yes', `Yes ${yes}${more}`], ['no', `No ${items.length - yes}${more}`]]} />`}>
    <${Loaded} load=${load} rows=${5} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${html`<${Empty} title="There are no subscriptions">${may('manage') && html`<p><a href="/subscriptions/new">Make one</a> to get events like this.</p>`}<//>`}>
      ${(data) => html`
        <ul class="matches">${[...shown].sort((a, b) => b.matched - a.matched).map((one) => html`<li key=${one.subscription} class=${one.matched ? 'match-yes' : 'match-no'}>
          <span class="match-mark tone-${one.matched ? 'good' : 'plain'}"><${Shape} name=${one.matched ? 'delivered' : 'cancelled'} /><span class="off-screen">${one.matched ? 'Wanted: ' : 'Not wanted: '}</span></span>
          <span class="match-body"><a class="breakable" href="/subscriptions/${one.subscription}">${host(one.url)}</a>
            <span class="quiet block">${one.matched ? (one.why ? WHY[one.why] || one.why : 'Types, subject and filters fit.') : WHY[one.why] || one.why}${one.matched && !one.message ? ' It did not then, or the subscription is newer.' : ''}${!one.matched && one.message ? ' It did when the event came.' : ''}</span></span>
          ${one.message && html`<a class="match-message" href="/messages/${one.message}">its message</a>`}
        </li>`)}</ul>
        ${shown.length === 0 && html`<p class="quiet">None.</p>`}
        <p class="hint">By the rules of now${data.next ? ', newest subscriptions first' : ''}.</p>
        ${data.next && html`<${More} list=${load} noun="subscriptions" />`}`}
    <//>
  <//>`;
}
