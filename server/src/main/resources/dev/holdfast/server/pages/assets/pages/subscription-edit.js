// The pages /subscriptions/new and /subscriptions/{id}/edit: a wish is written, checked as it is typed, and tried on the last events.
import { html, useState, useEffect, useRef, useMemo } from '../lib/html.js';
import { post, patch } from '../lib/api.js';
import { useLoad, useAction } from '../lib/load.js';
import { navigate } from '../lib/router.js';
import { may } from '../lib/session.js';
import { host, plural, number } from '../lib/format.js';
import { getText, parse } from '../lib/exact.js';
import { emptyForm, formOf, mistakes, newBody, patchBody, previewBody, row, headerRow, meaning, COMPARISONS } from '../lib/wish.js';
import { PageHeader, Card, Button, ErrorBox, Empty, Note, Shape, notify, Ago } from '../parts/basics.js';
import { TextField, TextArea, Select, Check, TimeField, FormActions, fieldError } from '../parts/form.js';
import { Fold, Detail } from '../parts/look.js';
import { Secret } from './subscription.js';

const PREVIEW_WAIT_MILLIS = 400;

export default function SubscriptionEdit({ params }) {
  const { id } = params;
  const load = useLoad(async (signal) => (id === undefined ? null : parse(await getText(`/v1/subscriptions/${encodeURIComponent(id)}`, {}, { signal }))), [id]);
  if (!may('manage')) {
    return html`<${PageHeader} title="Subscription" back=${{ href: '/subscriptions', text: 'Subscriptions' }} /><${Empty} title="This key may only look"><p>Sign in with a key of the role operator or admin to make and change subscriptions.</p><//>`;
  }
  const title = id === undefined ? 'New subscription' : 'Edit subscription';
  const header = (original) => ({
    title,
    sub: original === null ? 'Events that fit are sent to the URL as they come.' : host(original.url),
    back: backOf(original),
  });
  return html`<${Detail} load=${load} noun="subscription" title=${title} back=${backOf(null)} rows=${10} header=${header}>${(original) => html`<${Form} key=${id || 'new'} original=${original} />`}<//>`;
}

function backOf(original) {
  return original === null ? { href: '/subscriptions', text: 'Subscriptions' } : { href: `/subscriptions/${original.id}`, text: host(original.url) };
}

function Form({ original }) {
  const creating = original === null;
  const [form, setForm] = useState(() => (creating ? emptyForm() : formOf(original)));
  const [tried, setTried] = useState(false);
  const [touched, setTouched] = useState({});
  const [made, setMade] = useState(null);
  const frame = useRef(null);
  const wrong = useMemo(() => mistakes(form, original), [form]);
  const save = useAction(async () => {
    if (creating) {
      const created = await post('/v1/subscriptions', newBody(form));
      if (created.secret || created.publicKey) {
        setMade(created);
      } else {
        done(created);
      }
      return;
    }
    const body = patchBody(form, original);
    if (Object.keys(body).length > 0) {
      await patch(`/v1/subscriptions/${original.id}`, body);
    }
    notify('Saved.');
    navigate(`/subscriptions/${original.id}`);
  });
  const done = (created) => {
    notify('The subscription is there: events that are accepted from now on are matched with it.');
    navigate(created.history ? `/replays/${created.history}` : `/subscriptions/${created.id}`);
  };
  const change = (fields) => {
    setForm((old) => ({ ...old, ...fields }));
    setTouched((old) => ({ ...old, ...Object.fromEntries(Object.keys(fields).map((name) => [name, true])) }));
    save.clear();
  };
  // What is missing is not held against a field that nobody has come to yet.
  const error = (name, part = name.replace(/[.[].*/, ''), empty = false) => ((tried || (touched[part] && !empty)) && wrong[name]) || fieldError(save.error, name);
  const showMistake = () => setTimeout(() => frame.current?.querySelector('[aria-invalid=true]')?.focus(), 50);
  const submit = async (event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(wrong).length > 0) {
      showMistake();
      return;
    }
    await save.run();
    showMistake();
  };
  const kept = form.url === original?.url && form.url.includes('****');
  return html`
    <div class="columns columns-edit">
      <form class="form" ref=${frame} onSubmit=${submit} novalidate>
        <${Card} kind="roomy" title="Where to">
          <${TextField} label="URL" required mono type="url" autofocus=${creating} value=${form.url} onInput=${(url) => change({ url: url.trim() })} placeholder="https://example.com/hooks/orders" error=${error('url', 'url', form.url === '')}
            hint=${kept ? 'Values of its query are hidden; they stay as they are unless you write the URL anew.' : creating ? 'Subscriptions to the same URL share one endpoint, and its health.' : 'Unfinished messages go to the new URL too.'} />
          <div class="pair">
            <${Select} label="Format" value=${form.format} onChange=${(format) => change({ format })} error=${error('format')} options=${[['holdfast', 'holdfast (usual)'], ['cloudevents', 'CloudEvents 1.0'], ['workfront', 'Workfront']]} />
            <${TextField} label="Rate limit, requests a second" mono value=${form.rateLimit} onInput=${(rateLimit) => change({ rateLimit })} placeholder=${creating ? 'as the endpoint has it' : 'none'} error=${error('rateLimit')} hint="The endpoint’s; a fraction is fine." />
          </div>
          ${form.format === 'workfront' && html`<div class="pair">
            <${Select} label="Version" value=${form.version} onChange=${(version) => change({ version })} options=${[['v2', 'v2'], ['v1', 'v1']]} error=${error('version')} />
            <${Check} label="States as Base64" checked=${form.base64} onChange=${(base64) => change({ base64 })} />
          </div>`}
        <//>
        <${Card} kind="roomy" title="Which events">
          <${TextArea} label="Types" required mono rows=${3} value=${form.types} onInput=${(types) => change({ types })} placeholder=${'order.*\ninvoice.sent'} error=${error('types', 'types', form.types.trim() === '')} hint="One in each line. * stands for any text." />
          <${TextField} label="Subject" mono value=${form.subject} onInput=${(subject) => change({ subject })} placeholder="any" error=${error('subject')} hint="Only events with exactly this subject." />
          <${FilterRows} form=${form} change=${change} error=${error} problem=${save.error} />
        <//>
        <${Card} kind="roomy" title="What goes with it">
          <${Token} form=${form} change=${change} error=${error('authToken', 'token')} />
          <${Headers} form=${form} change=${change} error=${error} problem=${save.error} />
          ${creating && html`<${Fold} title="Secret and history" open=${false}>
            <div class="pair">
              <${Select} label="Signatures" value=${form.signature} onChange=${(signature) => change({ signature })} options=${[['v1', 'v1: HMAC, the receiver has the secret'], ['v1a', 'v1a: Ed25519, the receiver has a public key']]} error=${error('signature')} />
              <${TextField} label="A secret of your own" mono value=${form.secret} onInput=${(secret) => change({ secret: secret.trim() })} placeholder="one is made" error=${error('secret')} />
            </div>
            <${TimeField} label="Also what was accepted since" value=${form.since} onInput=${(since) => change({ since })} error=${error('since')} hint="What is still kept is brought by a replay. Empty: only what is new." />
          <//>`}
        <//>
        ${save.error && html`<${ErrorBox} error=${save.error} />`}
        ${tried && Object.keys(wrong).length > 0 && html`<${Note} kind="bad">See the ${plural(Object.keys(wrong).length, 'field')} marked above.<//>`}
        <${FormActions}>
          <${Button} type="submit" kind="primary" busy=${save.busy}>${creating ? 'Subscribe' : 'Save'}<//>
          <${Button} href=${backOf(original).href}>Cancel<//>
          ${!creating && html`<span class="hint">Types, subject and filters hold for events from now on; the rest also for messages on their way.</span>`}
        <//>
      </form>
      <${Preview} form=${form} wrong=${wrong} />
    </div>
    ${made && html`<${Secret} made=${made} title="The subscription’s secret" onClose=${() => done(made)} />`}`;
}

function FilterRows({ form, change, error, problem }) {
  const rows = form.filters;
  const set = (i, next) => change({ filters: next === null ? rows.filter((_, at) => at !== i) : rows.map((one, at) => (at === i ? next : one)) });
  const about = problem?.field && /^filters(\[\d+\](\.filters)?(\[\d+\])?)?$/.test(problem.field) ? problem.detail : '';
  return html`<fieldset class="rows">
    <legend>Filters</legend>
    ${rows.length === 0 && html`<p class="hint">None: every payload will do.</p>`}
    ${rows.length > 1 && html`<div class="row-connector"><${Select} label="How filters are joined" hideLabel compact value=${form.connector} onChange=${(connector) => change({ connector })} options=${[['AND', 'All must hold (AND)'], ['OR', 'One must hold (OR)']]} /></div>`}
    ${rows.map((one, i) => html`<${Row} key=${one.key} one=${one} place="filters[${i}]" number=${`${i + 1}`} error=${error} set=${(next) => set(i, next)} />`)}
    ${about && html`<p class="field-error"><${Shape} name="bad" /> ${about}</p>`}
    <div class="row-buttons">
      <${Button} small onClick=${() => change({ filters: [...rows, row('comparison')] })}>Add a filter<//>
      ${rows.filter((one) => one.kind === 'group').length < 10 && html`<${Button} small onClick=${() => change({ filters: [...rows, row('group')] })}>Add a group<//>`}
    </div>
  </fieldset>`;
}

function Row({ one, place, number: name, error, set }) {
  if (one.kind === 'group') {
    const inner = (i, next) => set({ ...one, rows: next === null ? one.rows.filter((_, at) => at !== i) : one.rows.map((old, at) => (at === i ? next : old)) });
    return html`<fieldset class="rows group">
      <legend>Group ${name}</legend>
      <div class="row-connector"><${Select} label="How filters of group ${name} are joined" hideLabel compact value=${one.connector} onChange=${(connector) => set({ ...one, connector })} options=${[['AND', 'All must hold (AND)'], ['OR', 'One must hold (OR)']]} />
        <${Button} small onClick=${() => set(null)} label="Remove group ${name}">Remove the group<//></div>
      ${one.rows.map((child, i) => html`<${Row} key=${child.key} one=${child} place="${place}.filters[${i}]" number=${`${name}.${i + 1}`} error=${error} set=${(next) => inner(i, next)} />`)}
      ${error(place) && html`<p class="field-error"><${Shape} name="bad" /> ${error(place)}</p>`}
      ${one.rows.length < 5 && html`<div class="row-buttons"><${Button} small onClick=${() => set({ ...one, rows: [...one.rows, row('comparison')] })}>Add to the group<//></div>`}
    </fieldset>`;
  }
  const changed = one.comparison === 'changed';
  const taken = meaning(one.value).text;
  return html`<div class="filter-row ${changed ? 'filter-row-short' : ''}" role="group" aria-label="Filter ${name}">
    ${!changed && html`<${Select} label="State" compact value=${one.state} onChange=${(state) => set({ ...one, state })} options=${[['newState', 'data'], ['oldState', 'previous']]} error=${error(`${place}.state`)} />`}
    <${TextField} label="Field" compact mono value=${one.fieldName} onInput=${(fieldName) => set({ ...one, fieldName })} placeholder="amount" error=${error(`${place}.fieldName`, 'filters', one.fieldName === '')} />
    <${Select} label="Comparison" compact value=${one.comparison} onChange=${(comparison) => set({ ...one, comparison })} options=${COMPARISONS} error=${error(`${place}.comparison`)} />
    ${!changed && html`<${TextField} label="Value" compact mono value=${one.value} onInput=${(value) => set({ ...one, value })} placeholder="100" error=${error(`${place}.fieldValue`, 'filters', one.value === '')} hint=${taken && `Taken as ${taken}`} />`}
    <button type="button" class="row-remove" onClick=${() => set(null)} aria-label="Remove filter ${name}" title="Remove"><${Shape} name="dropped" /><span class="row-remove-word">Remove</span></button>
  </div>`;
}

function Token({ form, change, error }) {
  if (form.tokenKept !== null) {
    return html`<div class="kept"><span class="kept-label">Token</span><code>${form.tokenKept}</code><${Button} small onClick=${() => change({ tokenKept: null, token: '' })}>Replace or remove<//></div>`;
  }
  return html`<${TextField} label="Token" mono value=${form.token} onInput=${(token) => change({ token })} placeholder="none" error=${error} hint="Sent as Authorization: Bearer … with every attempt. It cannot be shown again." />`;
}

function Headers({ form, change, error, problem }) {
  const rows = form.headers;
  const set = (i, next) => change({ headers: next === null ? rows.filter((_, at) => at !== i) : rows.map((one, at) => (at === i ? next : one)) });
  const named = (one) => (problem?.field === `headers.${one.name}` ? problem.detail : '');
  return html`<fieldset class="rows">
    <legend>Headers</legend>
    ${rows.length === 0 && html`<p class="hint">None besides those that every message has.</p>`}
    ${rows.map((one, i) => html`<div class="header-row" key=${one.key} role="group" aria-label="Header ${i + 1}">
      ${one.kept !== null
        ? html`<div class="kept"><code class="breakable">${one.name}: ${one.kept}</code><${Button} small label="Change the value of ${one.name}" onClick=${() => set(i, { ...one, kept: null, value: '' })}>Change<//></div>`
        : html`<${TextField} label="Name" compact mono value=${one.name} onInput=${(name) => set(i, { ...one, name })} placeholder="X-Environment" error=${error(`headers[${i}].name`, 'headers', one.name === '') || named(one)} />
          <${TextField} label="Value" compact mono value=${one.value} onInput=${(value) => set(i, { ...one, value })} error=${error(`headers[${i}].value`, 'headers', one.value === '')} />`}
      <button type="button" class="row-remove" onClick=${() => set(i, null)} aria-label="Remove header ${one.name || i + 1}" title="Remove"><${Shape} name="dropped" /></button>
    </div>`)}
    ${problem?.field === 'headers' && html`<p class="field-error"><${Shape} name="bad" /> ${problem.detail}</p>`}
    ${rows.length < 20 && html`<div class="row-buttons"><${Button} small onClick=${() => change({ headers: [...rows, headerRow()] })}>Add a header<//></div>`}
  </fieldset>`;
}

/** Which of the last events would be sent, asked for anew a moment after each change. */
function Preview({ form, wrong }) {
  const ready = !Object.keys(wrong).some((name) => name === 'types' || name === 'subject' || name.startsWith('filters'));
  const text = ready ? JSON.stringify(previewBody(form)) : '';
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PREVIEW_WAIT_MILLIS);
    return () => clearTimeout(timer);
  }, [text]);
  const load = useLoad(() => (asked === '' ? null : post('/v1/subscriptions/preview', previewBody(form))), [asked], { keep: true });
  const result = load.data;
  return html`<${Card} kind="roomy preview" title="Preview" aside=${load.refreshing && html`<span class="quiet">looking…</span>`}>
    <div role="status" class="preview-sum">${text === '' || !result
      ? html`<p class="quiet">${text === '' ? 'With types, and filters that are whole, this shows which of the last events would have been sent.' : load.error ? '' : 'Looking at the last events…'}</p>`
      : result.looked === 0
        ? html`<p class="quiet">There are no events yet to try it on.</p>`
        : html`<p><strong class="big">${number(result.matching)}</strong> of the last ${plural(result.looked, 'event')} would have been sent.</p>`}</div>
    ${load.error && html`<${ErrorBox} error=${load.error} retry=${load.reload} />`}
    ${text !== '' && result && result.items.length > 0 && html`<ul class="preview-list" tabindex="0" aria-label="The last events">${result.items.map((one) => html`<li key=${one.event} class=${one.matches ? 'match-yes' : 'match-no'}>
      <span class="match-mark tone-${one.matches ? 'good' : 'plain'}"><${Shape} name=${one.matches ? 'delivered' : 'cancelled'} /><span class="off-screen">${one.matches ? 'Sent: ' : 'Not sent: '}</span></span>
      <span class="match-body"><a class="breakable" href="/events/${encodeURIComponent(one.event)}" target="_blank" rel="noopener">${one.type}</a> <span class="quiet breakable">${one.subject || ''}</span>
        <span class="quiet block">${one.matches ? '' : `${decided(one.decidedBy)} · `}<${Ago} time=${one.acceptedAt} /></span></span>
    </li>`)}</ul>`}
  <//>`;
}

function decided(by) {
  if (by === 'types' || by === 'type') {
    return 'no type fits';
  }
  if (by === 'subject') {
    return 'another subject';
  }
  const place = /^filters\[(\d+)\]/.exec(by || '');
  return place === null ? 'no filter holds' : `filter ${Number(place[1]) + 1} does not hold`;
}
