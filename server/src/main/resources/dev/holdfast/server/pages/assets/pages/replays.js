// The page /replays: what is being sent again, and a form for more.
import { html, useState } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { usePages, useAction } from '../lib/load.js';
import { useQuery, navigate } from '../lib/router.js';
import { may, speed } from '../lib/session.js';
import { PageHeader, Card, Loaded, Empty, StatusBadge, Ago, Button, ErrorBox, notify } from '../parts/basics.js';
import { Table, More } from '../parts/table.js';
import { TextField, Check, TimeField, FormActions, fieldError } from '../parts/form.js';
import { EndpointPick, EndpointLink, Progress } from '../parts/look.js';
import { useUrls } from '../lib/names.js';

export default function Replays() {
  const [asked, ask] = useQuery({ new: '', endpoint: '', subscription: '', status: '', since: '', until: '' });
  const list = usePages((cursor) => get('/v1/replays', { cursor, limit: 50 }), [], { every: speed() > 1 ? 1000 : 3000 });
  const urls = useUrls((list.items || []).map((one) => one.endpoint).filter(Boolean));
  const making = may('manage') && asked.new !== '';
  const close = () => ask({ new: '', endpoint: '', subscription: '', status: '', since: '', until: '' });
  return html`
    <${PageHeader} title="Replays" sub="Finished messages sent again, as new ones; and what was before a subscription, for it.">
      ${may('manage') && !making && html`<${Button} kind="primary" onClick=${() => ask({ new: '1' })}>New replay<//>`}
    <//>
    ${making && html`<${NewReplay} asked=${asked} onClose=${close} />`}
    <${Card} flush>
      <${Loaded} load=${list} rows=${5} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${html`<${Empty} title="No replays yet"><p>When a receiver has lost messages, or they were dropped, a replay sends them again.</p>${may('manage') && !making && html`<${Button} small onClick=${() => ask({ new: '1' })}>New replay<//>`}<//>`}>
        ${(data) => html`
          <${Table} label="Replays" rows=${data.items} keyOf=${(row) => row.id} columns=${[
            { name: 'id', title: 'Replay', main: true, cell: (row) => html`<a class="two-lines" href="/replays/${row.id}"><span>${row.kind === 'history' ? 'History' : 'Messages'}</span><code class="quiet">${row.id}</code></a>` },
            { name: 'state', title: 'State', cell: (row) => html`<${StatusBadge} status=${row.state} text=${row.state} />` },
            { name: 'progress', title: 'Progress', wide: true, cell: (row) => html`<${Progress} ...${row} label="Progress of ${row.id}" />` },
            { name: 'of', title: 'Of', cell: (row) => of(row, urls) },
            { name: 'created', title: 'Begun', cell: (row) => html`<${Ago} time=${row.createdAt} />` },
          ]} />
          <${More} list=${list} noun="replays" />`}
      <//>
    <//>`;
}

function of(row, urls) {
  const parts = [
    row.status.length > 0 && html`<span>${row.status.join(' and ')}</span>`,
    row.endpoint && html`<${EndpointLink} id=${row.endpoint} url=${urls(row.endpoint)} />`,
    row.subscription && html`<a href="/subscriptions/${row.subscription}"><code>${row.subscription}</code></a>`,
  ].filter(Boolean);
  return html`<span class="lines">${parts}</span>`;
}

function NewReplay({ asked, onClose }) {
  const [form, setForm] = useState({
    endpoint: asked.endpoint,
    subscription: asked.subscription,
    dropped: asked.status === '' || asked.status.includes('dropped'),
    delivered: asked.status.includes('delivered'),
    since: asked.since,
    until: asked.until,
    again: false,
  });
  const make = useAction(async () => {
    const replay = await post('/v1/replays', {
      endpoint: form.endpoint || null,
      subscription: form.subscription || null,
      status: ['dropped', 'delivered'].filter((status) => form[status]),
      since: form.since || null,
      until: form.until || null,
      again: form.again,
    });
    notify('The replay runs.');
    navigate(`/replays/${replay.id}`);
  });
  const change = (fields) => {
    setForm({ ...form, ...fields });
    make.clear();
  };
  const wrong = {
    subscription: form.subscription !== '' && !/^sub_[0-9A-Z]{13}$/.test(form.subscription) ? 'An id begins with sub_ and has 13 more characters.' : '',
    status: form.dropped || form.delivered ? '' : 'Choose dropped, delivered or both.',
    until: form.since !== '' && form.until !== '' && form.since >= form.until ? 'The end is before the beginning.' : '',
  };
  const bad = Object.values(wrong).some((text) => text !== '');
  const all = form.endpoint === '' && form.subscription === '';
  const submit = (event) => {
    event.preventDefault();
    if (!bad) {
      make.run();
    }
  };
  // A single message is asked for by the millisecond that it was made in, which the fields of a browser do not show.
  const single = form.since !== '' && form.until !== '' && Date.parse(form.until) - Date.parse(form.since) <= 1;
  return html`<${Card} kind="roomy" title="New replay" aside=${html`<${Button} small onClick=${onClose}>Close<//>`}>
    <form class="form" onSubmit=${submit}>
      <div class="pair">
        <${EndpointPick} label="Only to this endpoint" value=${form.endpoint} onPick=${(endpoint) => change({ endpoint })} error=${fieldError(make.error, 'endpoint')} />
        <${TextField} label="Only of this subscription" mono value=${form.subscription} onInput=${(subscription) => change({ subscription: subscription.trim() })} placeholder="any" error=${wrong.subscription || fieldError(make.error, 'subscription')} />
      </div>
      <fieldset class="rows"><legend>Messages that were</legend>
        <div class="row">
          <${Check} label="dropped" checked=${form.dropped} onChange=${(dropped) => change({ dropped })} />
          <${Check} label="delivered" checked=${form.delivered} onChange=${(delivered) => change({ delivered })} />
          <${Check} label="also those that were replayed before" checked=${form.again} onChange=${(again) => change({ again })} />
        </div>
        ${(wrong.status || fieldError(make.error, 'status')) && html`<p class="field-error">${wrong.status || fieldError(make.error, 'status')}</p>`}
      </fieldset>
      ${single
        ? html`<div class="kept"><span class="kept-label">Created</span><code>${form.since}</code><${Button} small onClick=${() => change({ since: '', until: '' })}>At another time<//></div>
          <p class="hint">All messages that fit and were created in this millisecond are sent again, such as those of one batch of events: it may be more than the one that you came from.</p>`
        : html`<div class="pair">
          <${TimeField} label="Created since" value=${form.since} onInput=${(since) => change({ since })} error=${fieldError(make.error, 'since')} />
          <${TimeField} label="Created before" value=${form.until} onInput=${(until) => change({ until })} error=${wrong.until || fieldError(make.error, 'until')} />
        </div>`}
      ${make.error && html`<${ErrorBox} error=${make.error} />`}
      <${FormActions}>
        <${Button} type="submit" kind="primary" busy=${make.busy} disabled=${bad}>Replay<//>
        <span class="hint">${all ? 'Of all endpoints. ' : ''}Each makes a new message for the subscription as it is now, which waits with the retries.</span>
      <//>
    </form>
  <//>`;
}
