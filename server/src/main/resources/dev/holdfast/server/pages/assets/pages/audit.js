// The page /audit: who has changed what.
import { html } from '../lib/html.js';
import { get } from '../lib/api.js';
import { usePages } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { may, session, tenant } from '../lib/session.js';
import { PageHeader, Card, Loaded, Empty, Ago, Button, Copy } from '../parts/basics.js';
import { More, Filters } from '../parts/table.js';
import { TextField, Select } from '../parts/form.js';
import { Code, Span, SPAN, rangeOf, Fold } from '../parts/look.js';

const ASKED = { action: '', target: '', actor: '', of: '', ...SPAN };
const ACTIONS = [
  'subscription.created', 'subscription.changed', 'subscription.paused', 'subscription.resumed', 'subscription.secret-rotated', 'subscription.deleted',
  'endpoint.changed', 'endpoint.enabled', 'endpoint.disabled', 'endpoint.frozen', 'replay.started', 'replay.cancelled', 'message.retried',
  'key.created', 'key.revoked', 'master-key.rotated', 'server.started',
];
const PAGES = { sub: 'subscriptions', ep: 'endpoints', msg: 'messages', rpl: 'replays', evt: 'events' };

export default function Audit() {
  if (!may('administer')) {
    return html`<${PageHeader} title="Audit" /><${Empty} title="Only admins see the audit"><p>Sign in with a key of the role admin.</p><//>`;
  }
  return html`<${List} />`;
}

function List() {
  const [asked, ask] = useQuery(ASKED);
  const { action, target, actor, of, last, since, until } = asked;
  const everywhere = session().tenant === null;
  const call = of === '' ? (path, query) => get(path, query, { wide: true }) : get;
  const list = usePages((cursor) => call('/v1/audit', { action, target, actor, ...rangeOf(asked), cursor, limit: 50 }), [action, target, actor, of, last, since, until]);
  const filtered = Object.entries(ASKED).some(([name, absent]) => asked[name] !== absent);
  return html`
    <${PageHeader} title="Audit" sub=${'Who has changed what. Entries are chained by their hashes.'}>
      <${Button} onClick=${list.reload} busy=${list.refreshing}>Load again<//>
    <//>
    <${Card} flush>
      <${Filters}>
        <${TextField} label="Action" type="search" compact mono wait=${400} list=${ACTIONS} value=${action} onInput=${(value) => ask({ action: value.trim() })} placeholder="subscription.changed" />
        <${TextField} label="Done to" type="search" compact mono wait=${400} value=${target} onInput=${(value) => ask({ target: value.trim() })} placeholder="id" />
        <${TextField} label="Done by" type="search" compact mono wait=${400} value=${actor} onInput=${(value) => ask({ actor: value.trim() })} placeholder="key id, or name" />
        ${everywhere && html`<${Select} label="Tenants" compact value=${of} onChange=${(value) => ask({ of: value })} options=${[['', 'All'], ['one', `Only ${tenant()}`]]} />`}
        <${Span} label="When" values=${asked} onChange=${ask} />
        ${filtered && html`<div class="filters-end"><${Button} small onClick=${() => ask(ASKED)}>Clear all<//></div>`}
      <//>
      <${Loaded} load=${list} rows=${8} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${html`<${Empty} title=${filtered ? 'No entry fits' : 'Nothing was changed yet'}>${filtered ? html`<p>Actions are asked for by their whole name.</p><${Button} small onClick=${() => ask(ASKED)}>Clear all filters<//>` : html`<p>Each change by a person or a key stands here.</p>`}<//>`}>
        ${(data) => html`<ol class="audit">${data.items.map((item) => html`<${Entry} key=${item.hash} item=${item} ask=${ask} />`)}</ol><${More} list=${list} noun="entries" />`}
      <//>
    <//>`;
}

function Entry({ item, ask }) {
  const { entry, hash } = item;
  const kind = /^([a-z]+)_/.exec(entry.target || '');
  // The pages show the tenant that is looked at: what is of another one cannot be opened from here.
  const page = kind && entry.chain === tenant() && PAGES[kind[1]];
  return html`<li class="audit-entry">
    <div class="audit-head">
      <span class="audit-when"><${Ago} time=${entry.at} /></span>
      <button type="button" class="link-button" onClick=${() => ask({ action: entry.action }, { push: true })} title="Only such actions"><code>${entry.action}</code></button>
      ${entry.target && html`<span class="audit-target">${page ? html`<a href="/${page}/${encodeURIComponent(entry.target)}"><code>${entry.target}</code></a>` : html`<code>${entry.target}</code>`}</span>`}
      <span class="audit-actor quiet">by <button type="button" class="link-button" onClick=${() => ask({ actor: entry.actor.id || entry.actor.name }, { push: true })} title="Only what they did"><span class="breakable">${entry.actor.name}</span></button>${entry.actor.kind !== 'key' ? ` (${entry.actor.kind})` : ''}</span>
    </div>
    <${Changes} before=${entry.before} after=${entry.after} />
    <${Fold} title=${`Entry ${entry.number}${entry.chain === '' ? ' of the server' : ` of ${entry.chain}`}`}>
      <${Code} text=${JSON.stringify(entry)} label="the entry" json />
      <p class="hint breakable">${entry.at} · hash <code>${hash}</code> <${Copy} text=${hash} label="Copy the hash" /></p>
    <//>
  </li>`;
}

const MOST = 5;

/** What is different, at most a few fields of it: the entry below has all. */
function Changes({ before, after }) {
  const names = [...new Set([...Object.keys(before || {}), ...Object.keys(after || {})])].filter((name) => valueOf(before, name) !== valueOf(after, name));
  if (names.length === 0) {
    return null;
  }
  const shown = names.length > MOST + 1 ? names.slice(0, MOST) : names;
  return html`<dl class="diff">${shown.map((name) => {
    const old = valueOf(before, name);
    const fresh = valueOf(after, name);
    return html`<div key=${name}><dt>${name}</dt><dd>
      ${old !== null && html`<del class="breakable"><span class="off-screen">before: </span>${old}</del>`}
      ${old !== null && fresh !== null && html`<span aria-hidden="true" class="quiet"> → </span>`}
      ${fresh !== null && html`<ins class="breakable"><span class="off-screen">after: </span>${fresh}</ins>`}
    </dd></div>`;
  })}</dl>${names.length > shown.length && html`<p class="diff-rest quiet">and ${names.length - shown.length} more: ${names.slice(shown.length).join(', ')}</p>`}`;
}

/** A field as text. What is empty is as good as absent. */
function valueOf(from, name) {
  const value = from?.[name];
  if (value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)) {
    return null;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
