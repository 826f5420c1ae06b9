// The page /subscriptions/{id}: all that is known of a subscription, and what can be done with it.
import { html, useState } from '../lib/html.js';
import { get, post, del } from '../lib/api.js';
import { useLoad, useAction } from '../lib/load.js';
import { navigate } from '../lib/router.js';
import { may } from '../lib/session.js';
import { host, number, day } from '../lib/format.js';
import { getText, parse } from '../lib/exact.js';
import { Card, Facts, Id, Ago, Time, Button, ErrorBox, Note, Confirm, StateBadge, Countdown, notify } from '../parts/basics.js';
import { Select } from '../parts/form.js';
import { Code, Once, Fold, Detail } from '../parts/look.js';
import { SubscriptionState, Types } from './subscriptions.js';

const BACK = { href: '/subscriptions', text: 'Subscriptions' };
const OVERLAP = [['24h', 'a day (usual)'], ['1h', 'an hour'], ['7d', 'a week'], ['30d', '30 days'], ['0s', 'not at all: it leaked']];

export default function Subscription({ params }) {
  const { id } = params;
  const path = `/v1/subscriptions/${encodeURIComponent(id)}`;
  // Filters keep the digits of their numbers.
  const load = useLoad(async (signal) => parse(await getText(path, {}, { signal })), [id]);
  const turn = useAction(async (one) => {
    const now = await post(`${path}/${one.paused ? 'resume' : 'pause'}`);
    load.reload();
    notify(now.paused ? 'Paused: its messages are parked, and their deadlines run on.' : 'Resumed: its parked messages are due.');
  });
  const header = (one) => ({
    title: host(one.url),
    badge: html`<${SubscriptionState} row=${one} />`,
    sub: html`<${Id} value=${one.id} copy />`,
    actions: html`<${Button} href="/messages?subscription=${one.id}">Its messages<//>
      ${may('manage') && html`
        <${Button} busy=${turn.busy} onClick=${() => turn.run(one)}>${one.paused ? 'Resume' : 'Pause'}<//>
        <${Button} href="/subscriptions/${one.id}/edit" kind="primary">Edit<//>`}`,
  });
  return html`<${Detail} load=${load} noun="subscription" back=${BACK} rows=${10} header=${header}>${(one) => html`<${Shown} one=${one} path=${path} load=${load} turn=${turn} />`}<//>`;
}

function Shown({ one, path, load, turn }) {
  const endpoint = useLoad(() => get(`/v1/endpoints/${one.endpoint}`), [one.endpoint]);
  const [asking, setAsking] = useState('');
  const [made, setMade] = useState(null);
  const [overlap, setOverlap] = useState('24h');
  const [signature, setSignature] = useState(one.secrets[0]?.signature || 'v1');
  const rotate = useAction(async () => {
    const now = await post(`${path}/rotate`, { oldValidFor: overlap, signature });
    setAsking('');
    setMade(now);
    load.reload();
  });
  const remove = useAction(async () => {
    await del(path);
    notify('The subscription has ended.');
    navigate('/subscriptions');
  });
  const close = () => {
    setAsking('');
    rotate.clear();
    remove.clear();
  };
  return html`
    ${turn.error && html`<${ErrorBox} error=${turn.error} />`}
    ${one.paused && html`<${Note} kind="info">It is paused: events go on making messages for it, which are parked, and their deadlines run.<//>`}
    ${one.goneAt && html`<${Note} kind="warn">The receiver answered 410 Gone <${Ago} time=${one.goneAt} />: it wants no more. Delete the subscription if that is so.<//>`}
    <div class="columns">
      <${Card} kind="roomy" title="What it wants">
        <${Facts} items=${[
          ['Types', html`<${Types} types=${one.types} most=${100} />`],
          ['Subject', one.subject === null ? html`<span class="quiet">any</span>` : html`<code class="breakable">${one.subject}</code>`],
          ['Filters', one.filters.length === 0 ? html`<span class="quiet">none: every payload will do</span>` : html`<${FilterText} filters=${one.filters} connector=${one.filterConnector} />`],
        ]} />
        ${one.filters.length > 0 && html`<${Fold} title="Filters as JSON"><${Code} text=${JSON.stringify(one.filters)} label="the filters" json /><//>`}
      <//>
      <${Card} kind="roomy" title="Where it goes">
        <${Facts} items=${[
          ['URL', html`<code class="breakable">${one.url}</code>`, undefined, true],
          ['Endpoint', html`<a href="/endpoints/${one.endpoint}">${one.endpoint}</a>${endpoint.data && html` <${StateBadge} state=${endpoint.data.state} />`}`],
          ['Format', html`${one.format}${one.version ? `, ${one.version}` : ''}${one.base64Encoding ? ', states in Base64' : ''}`],
          ['Rate limit', one.rateLimit === null ? html`<span class="quiet">none</span>` : `${String(JSON.stringify(one.rateLimit))} a second, of the endpoint`],
          ['Token', one.authToken === null ? html`<span class="quiet">none</span>` : html`<code>${one.authToken}</code>`],
          ['Headers', Object.keys(one.headers).length === 0 ? html`<span class="quiet">none</span>` : html`<span class="lines">${Object.entries(one.headers).map(([name, value]) => html`<code key=${name} class="breakable">${name}: ${value}</code>`)}</span>`],
          one.tls && ['TLS', html`<span class="lines">${one.tls.certificate && html`<span>shows ${one.tls.certificate.subject}, until ${day(one.tls.certificate.notAfter)}</span>`}${one.tls.roots.map((root) => html`<span key=${root.fingerprint}>trusts ${root.subject}, until ${day(root.notAfter)}</span>`)}</span>`],
          ['Created', html`<${Time} time=${one.createdAt} /> <span class="quiet">(<${Ago} time=${one.createdAt} />)</span>`],
          ['Changed', html`<${Ago} time=${one.changedAt} />`],
        ]} />
      <//>
    </div>
    <${Card} kind="roomy" title="Secrets" aside=${may('manage') && html`<${Button} small onClick=${() => setAsking('rotate')}>Rotate…<//>`}>
      <p class="card-text">Messages are signed with each of these. Values cannot be shown again.</p>
      <ul class="secrets">${one.secrets.map((secret, i) => html`<li key=${i}>
        <strong>${i === 0 ? 'Newest' : 'Older'}</strong> <code>${secret.signature}</code> made <${Ago} time=${secret.createdAt} real />, ${secret.validUntil === null ? 'used until the next one' : html`still used, ends <${Countdown} time=${secret.validUntil} real />`}
        ${secret.publicKey && html`<span class="block"><${Id} value=${secret.publicKey} copy /></span>`}</li>`)}</ul>
    <//>
    ${may('manage') && html`<${Card} kind="roomy" title="End it"><div class="row"><p class="card-text">Its unfinished messages are dropped. What it got can still be looked at.</p><${Button} kind="danger" onClick=${() => setAsking('delete')}>Delete…<//></div><//>`}
    <${Confirm} open=${asking === 'rotate'} title="Give it a new secret" action="Rotate" busy=${rotate.busy} error=${rotate.error} onConfirm=${() => rotate.run()} onCancel=${close}
      text="Messages are signed with the new secret at once. The old ones go on signing for a while, so that the receiver can change at its own time.">
      <${Select} label="Old secrets go on for" value=${overlap} onChange=${setOverlap} options=${OVERLAP} />
      <${Select} label="Signatures" value=${signature} onChange=${setSignature} options=${[['v1', 'v1: HMAC, the receiver has the secret'], ['v1a', 'v1a: Ed25519, the receiver has a public key']]} />
    <//>
    <${Confirm} open=${asking === 'delete'} title="Delete this subscription?" action="Delete" kind="danger" busy=${remove.busy} error=${remove.error} onConfirm=${() => remove.run()} onCancel=${close}
      text="It ends at once and cannot be brought back. Its unfinished messages are dropped.">
      <p class="breakable"><code>${one.url}</code></p>
      ${endpoint.data && endpoint.data.pending + endpoint.data.waiting + endpoint.data.parked > 0 && html`<p>Its endpoint has ${number(endpoint.data.pending + endpoint.data.waiting + endpoint.data.parked)} unfinished messages, those of other subscriptions to this URL included.</p>`}
    <//>
    ${made && html`<${Secret} made=${made} onClose=${() => setMade(null)} />`}`;
}

/** Shows the secret of an answer that has one, once. */
export function Secret({ made, onClose, title = 'The new secret' }) {
  return made.secret
    ? html`<${Once} title=${title} label="Signing secret" value=${made.secret} onClose=${onClose}><p>Give it to the receiver, who verifies signatures with it. It is shown only now.</p><//>`
    : html`<${Once} title=${title} label="Public key" value=${made.publicKey || ''} onClose=${onClose}><p>The receiver verifies signatures with this public key. The private key stays here.</p><//>`;
}

const WORDS = {
  eq: 'is', ne: 'is not', gt: '>', gte: '≥', lt: '<', lte: '≤', contains: 'contains', notContains: 'does not contain', containsOnly: 'contains only', changed: 'has changed',
};

function FilterText({ filters, connector }) {
  return html`<ul class="filter-text">${filters.map((one, i) => html`<li key=${i}>${i > 0 && html`<span class="connector">${connector}</span>`}${one.type === 'group'
    ? html`<span class="filter-group"><${FilterText} filters=${one.filters} connector=${one.connector} /></span>`
    : html`<span class="breakable"><span class="quiet">${one.comparison === 'changed' ? '' : one.state === 'oldState' ? 'previous ' : 'data '}</span><code>${one.fieldName}</code> ${WORDS[one.comparison] || one.comparison}${one.comparison !== 'changed' ? html` <code>${JSON.stringify(one.fieldValue)}</code>` : ''}</span>`}</li>`)}</ul>`;
}
