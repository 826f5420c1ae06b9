// The page /keys: who may do what. Keys for all tenants see and make keys of all of them.
import { html, useState } from '../lib/html.js';
import { get, post, del } from '../lib/api.js';
import { usePages, useAction } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { may, session, tenant } from '../lib/session.js';
import { useNow } from '../lib/clock.js';
import { PageHeader, Card, Loaded, Empty, Ago, Countdown, Button, ErrorBox, Confirm, StatusBadge, notify } from '../parts/basics.js';
import { Table, More } from '../parts/table.js';
import { TextField, Select, FormActions, fieldError } from '../parts/form.js';
import { Once } from '../parts/look.js';

const ROLES = [
  ['viewer', 'viewer: looks at everything'], ['operator', 'operator: also manages subscriptions and endpoints'],
  ['publisher', 'publisher: sends events, sees nothing'], ['admin', 'admin: everything, keys too'],
];
const SPANS = [['90d', '90 days'], ['365d', 'a year'], ['30d', '30 days'], ['7d', 'a week'], ['1d', 'a day'], ['', 'never']];

export default function Keys() {
  if (!may('administer')) {
    return html`<${PageHeader} title="Keys" /><${Empty} title="Only admins see keys"><p>Sign in with a key of the role admin.</p><//>`;
  }
  return html`<${List} />`;
}

function List() {
  const [asked, ask] = useQuery({ new: '' });
  const list = usePages((cursor) => get('/v1/keys', { cursor, limit: 100 }, { wide: true }), []);
  const [made, setMade] = useState(null);
  const [leaving, setLeaving] = useState(null);
  const now = useNow(10_000);
  const revoke = useAction(async () => {
    await del(`/v1/keys/${encodeURIComponent(leaving.id)}`, { wide: true });
    setLeaving(null);
    notify('Revoked. It opens nothing any more.');
    list.reload();
  });
  const mine = session()?.key;
  const shown = (key) => {
    setMade(key);
    ask({ new: '' });
    list.reload();
  };
  return html`
    <${PageHeader} title="Keys" sub=${session().tenant === null ? 'Who may do what, of all tenants.' : `Who may do what, of the tenant ${session().tenant}.`}>
      ${asked.new === '' && html`<${Button} kind="primary" onClick=${() => ask({ new: '1' })}>New key<//>`}
    <//>
    ${asked.new !== '' && html`<${NewKey} onMade=${shown} onClose=${() => ask({ new: '' })} />`}
    <${Card} flush>
      <${Loaded} load=${list} rows=${5} empty=${(data) => data.items.length === 0} whenEmpty=${html`<${Empty} title="No stored keys"><p>You are signed in with the fixed key of the settings. Make a key for each program and person.</p><//>`}>
        ${(data) => html`
          <${Table} label="Keys" rows=${data.items} keyOf=${(row) => row.id} columns=${[
            { name: 'name', title: 'Key', main: true, wide: true, cell: (row) => html`<span class="two-lines"><b class="breakable">${row.name}${row.id === mine ? ' (yours)' : ''}</b><code class="quiet">${row.id}</code></span>` },
            { name: 'role', title: 'Role', cell: (row) => row.role },
            { name: 'tenant', title: 'Tenant', cell: (row) => row.tenant === null ? 'all' : html`<code>${row.tenant}</code>` },
            { name: 'used', title: 'Last used', cell: (row) => row.lastUsedAt === null ? html`<span class="quiet">never</span>` : html`<${Ago} time=${row.lastUsedAt} real />` },
            { name: 'expires', title: 'Expires', cell: (row) => row.expiresAt === null ? html`<span class="quiet">never</span>` : Date.parse(row.expiresAt) <= now ? html`<${StatusBadge} status="expired" text="expired" />` : html`<${Countdown} time=${row.expiresAt} real />` },
            { name: 'created', title: 'Created', cell: (row) => html`<${Ago} time=${row.createdAt} real />` },
            { name: 'revoke', title: 'Revoke', hideTitle: true, cell: (row) => html`<${Button} small kind="danger" label="Revoke ${row.name}" onClick=${() => { revoke.clear(); setLeaving(row); }}>Revoke…<//>` },
          ]} />
          <${More} list=${list} noun="keys" />`}
      <//>
    <//>
    <${Confirm} open=${leaving !== null} title="Revoke this key?" action="Revoke" kind="danger" busy=${revoke.busy} error=${revoke.error} onConfirm=${() => revoke.run()} onCancel=${() => setLeaving(null)}
      text=${leaving && `${leaving.name} opens nothing from then on, and whoever signed in with it is signed out.${leaving.id === mine ? ' It is the key that you are signed in with.' : ''}`} />
    ${made && html`<${Once} title="The new key" label="${made.name}, ${made.role}" value=${made.key} onClose=${() => setMade(null)}><p>Keep it where secrets are kept. It is shown only now.</p><//>`}`;
}

function NewKey({ onMade, onClose }) {
  const everywhere = session().tenant === null;
  const [form, setForm] = useState({ name: '', role: 'viewer', scope: 'one', tenant: tenant(), expiresIn: '90d' });
  const make = useAction(async () => {
    const body = { role: form.role, name: form.name.trim() || null, expiresIn: form.expiresIn || null };
    if (everywhere) {
      body.tenant = form.scope === 'all' ? null : form.tenant;
    }
    onMade(await post('/v1/keys', body, { wide: true }));
  });
  const change = (fields) => {
    setForm({ ...form, ...fields });
    make.clear();
  };
  const wrong = {
    name: form.name.length > 100 ? 'At most 100 characters.' : '',
    tenant: everywhere && form.scope === 'one' && !/^[a-z0-9_-]{1,64}$/.test(form.tenant) ? 'Small letters, digits, _ and -, at most 64.' : '',
  };
  const bad = Object.values(wrong).some((text) => text !== '');
  const submit = (event) => {
    event.preventDefault();
    if (!bad) {
      make.run();
    }
  };
  return html`<${Card} kind="roomy" title="New key" aside=${html`<${Button} small onClick=${onClose}>Close<//>`}>
    <form class="form" onSubmit=${submit}>
      <div class="pair">
        <${TextField} label="What it is for" autofocus value=${form.name} onInput=${(name) => change({ name })} placeholder="shop backend" error=${wrong.name || fieldError(make.error, 'name')} />
        <${Select} label="Role" value=${form.role} onChange=${(role) => change({ role })} options=${ROLES} error=${fieldError(make.error, 'role')} />
      </div>
      <div class="pair">
        ${everywhere && html`<${Select} label="For" value=${form.scope} onChange=${(scope) => change({ scope })} options=${[['one', 'one tenant'], ['all', 'all tenants']]} />`}
        ${everywhere && form.scope === 'one' && html`<${TextField} label="Tenant" mono required value=${form.tenant} onInput=${(name) => change({ tenant: name })} error=${wrong.tenant || fieldError(make.error, 'tenant')} />`}
        <${Select} label="Expires" value=${form.expiresIn} onChange=${(expiresIn) => change({ expiresIn })} options=${SPANS.map(([key, text]) => [key, key === '' ? text : `after ${text}`])} error=${fieldError(make.error, 'expiresIn')} />
      </div>
      ${make.error && html`<${ErrorBox} error=${make.error} />`}
      <${FormActions}><${Button} type="submit" kind="primary" busy=${make.busy} disabled=${bad}>Make the key<//><//>
    </form>
  <//>`;
}
