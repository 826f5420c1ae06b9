// The page /messages/{id}: the life of one message, each of its attempts, and what is sent.
import { html, useState, useMemo } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { useLoad, useAction } from '../lib/load.js';
import { may, speed } from '../lib/session.js';
import { useNow } from '../lib/clock.js';
import { duration, latency, errorText, dropText, statusText, host, clockTime, utc, until, plural, bytes } from '../lib/format.js';
import { schedule, rulesOf } from '../lib/schedule.js';
import {
  Card, Loaded, Empty, StatusBadge, StateBadge, Facts, Id, Ago, Time, Countdown, Button, ErrorBox, Note, Copy, Shape, notify,
} from '../parts/basics.js';
import { Code, Fold, Detail } from '../parts/look.js';

const BACK = { href: '/messages', text: 'Messages' };
// Above this the curl command takes the body from a file.
const CURL_BODY_BYTES = 65_536;

export default function Message({ params }) {
  const { id } = params;
  const path = `/v1/messages/${encodeURIComponent(id)}`;
  const [finished, setFinished] = useState(false);
  const load = useLoad(async () => {
    const message = await get(path);
    setFinished(message.status === 'delivered' || message.status === 'dropped');
    return message;
  }, [id], { every: finished ? 0 : speed() > 1 ? 1000 : 3000 });
  const settings = useLoad(() => (may('look-at-server') ? get('/v1/settings', {}, { wide: true }).catch(() => ({ items: [] })) : { items: [] }), []);
  const to = load.data?.endpoint;
  const endpoint = useLoad(() => get(`/v1/endpoints/${encodeURIComponent(to)}`), [to], { every: 10_000, when: to !== undefined });
  const retry = useAction(async () => {
    await post(`${path}/retry`);
    notify('It is tried now. The attempt uses up none of its retries.');
    setTimeout(load.reload, 500);
    setTimeout(load.reload, 1500);
  });
  const header = (message) => ({
    title: message.type,
    badge: html`<${StatusBadge} status=${message.status} />`,
    sub: html`<${Id} value=${message.id} copy />`,
    actions: may('manage') && html`<${Actions} message=${message} retry=${retry} frozen=${endpoint.data?.state === 'frozen'} />`,
  });
  return html`<${Detail} load=${load} noun="message" back=${BACK} rows=${10} header=${header}>${(message) => html`<${Shown} message=${message} endpoint=${endpoint} retry=${retry} settings=${settings.data?.items} />`}<//>`;
}

function Actions({ message, retry, frozen }) {
  if (message.status === 'delivered' || message.status === 'dropped') {
    // createdAt has milliseconds or finer: the millisecond that it lies in.
    const created = Math.floor(Date.parse(message.createdAt));
    const again = `/replays?new=1&subscription=${message.subscription}&status=${message.status}&since=${new Date(created).toISOString()}&until=${new Date(created + 1).toISOString()}`;
    return html`<${Button} href=${again}>Replay…<//>`;
  }
  return message.status !== 'pending' && !frozen && html`<${Button} kind="primary" busy=${retry.busy} onClick=${() => retry.run()}>Retry now<//>`;
}

function Shown({ message, endpoint, retry, settings }) {
  const parked = message.status === 'parked';
  const subscription = useLoad(() => get(`/v1/subscriptions/${encodeURIComponent(message.subscription)}`).catch(() => null), [message.subscription, parked], { when: parked });
  const open = message.status === 'waiting' || parked;
  const frozen = endpoint.data?.state === 'frozen';
  return html`
    ${retry.error && html`<${ErrorBox} error=${retry.error} />`}
    ${open && frozen && html`<${Note} kind="warn">Its endpoint is frozen: nothing is tried until somebody <a href="/endpoints/${message.endpoint}">enables it</a>.<//>`}
    ${parked && subscription.data?.paused && html`<${Note} kind="info">Its subscription is paused: it is held back until somebody <a href="/subscriptions/${message.subscription}">resumes it</a>, and its deadline runs.<//>`}
    ${message.status === 'dropped' && html`<${Note} kind="bad">${dropText(message.reason)} It is kept, and a replay makes a new message of it.<//>`}
    <${Card} kind="roomy" title="Life"><${Life} message=${message} settings=${settings} /><//>
    <div class="columns columns-wide-left">
      <${Card} kind="roomy" title="Attempts" aside=${html`<span class="quiet">${plural(message.attempts.length, 'attempt')}</span>`}><${Attempts} message=${message} /><//>
      <${Card} kind="roomy" title="About">
        <${Facts} items=${[
          ['Status', html`${message.status}<span class="quiet block">${message.status === 'dropped' ? dropText(message.reason) : statusText(message.status)}</span>`],
          message.nextAttemptAt && ['Next attempt', html`<${Countdown} time=${message.nextAttemptAt} past="due now" />`],
          message.deadline && ['Deadline', html`<${Countdown} time=${message.deadline} past="has passed" /><span class="quiet block"><${Time} time=${message.deadline} /></span>`],
          ['Created', html`<${Ago} time=${message.createdAt} /><span class="quiet block"><${Time} time=${message.createdAt} /></span>`],
          ['Event', html`<${Id} value=${message.event} href="/events/${encodeURIComponent(message.event)}" />`],
          ['Subject', message.subject === null ? html`<span class="quiet">none</span>` : html`<span class="breakable">${message.subject}</span>`],
          ['Subscription', html`<${Id} value=${message.subscription} href="/subscriptions/${message.subscription}" />`],
          ['Endpoint', html`<a class="breakable" href="/endpoints/${message.endpoint}">${endpoint.data ? host(endpoint.data.url) : message.endpoint}</a>${endpoint.data && html`<span class="block"><${StateBadge} state=${endpoint.data.state} /></span>`}`, undefined, true],
          message.replayOf && ['Replays', html`<${Id} value=${message.replayOf} href="/messages/${message.replayOf}" />`],
          message.version && ['Version', message.version],
        ]} />
      <//>
    </div>
    <${Request} message=${message} />`;
}

const SLOT_TEXT = {
  delivered: 'delivered', failed: 'failed', next: 'comes next', coming: 'to come', unused: 'not needed', missed: 'not made',
};

function slotText(slot, message) {
  return SLOT_TEXT[slot.state === 'unused' && message.status === 'dropped' ? 'missed' : slot.state];
}

/** The axis of the schedule. Slots stand one apart, since each gap is twice the one before. */
function Life({ message, settings }) {
  const now = useNow(speed() > 1 ? 250 : 1000);
  const rules = useMemo(() => rulesOf(settings), [settings]);
  const plan = useMemo(() => schedule(message, rules), [message, rules]);
  const final = message.status === 'delivered' || message.status === 'dropped';
  const share = (place) => `${((place + 0.5) / (plan.retries + 1)) * 100}%`;
  const used = plan.slots.filter((slot) => slot.attempt).length;
  const here = plan.base === null ? null : plan.place(now);
  const end = !final ? here : plan.place(Math.max(...message.attempts.map((one) => Date.parse(one.at)), 0));
  return html`
    <p class="life-sentence">${sentence(message, plan, used, now)}</p>
    <div class="life" aria-hidden="true">
      <div class="life-line"></div>
      ${end !== null && plan.base !== null && html`<div class="life-past" style=${{ width: share(end) }}></div>`}
      ${plan.extra.map((one) => html`<span key=${one.number} class="life-extra life-${one.outcome}" style=${{ left: share(plan.place(Date.parse(one.at))) }}
        title="Attempt ${one.number}, outside of the schedule: ${one.outcome}, ${clockTime(one.at)}"></span>`)}
      ${plan.slots.map((slot) => html`<span key=${slot.number} class="life-slot life-${slot.state}" style=${{ left: share(slot.number) }} title=${slotTitle(slot, message)}>
        <span class="life-mark">${slot.state === 'delivered' ? html`<${Shape} name="delivered" />` : slot.state === 'failed' ? html`<${Shape} name="dropped" />` : ''}</span>
        <span class="life-label ${slot.number % 2 ? 'life-odd' : ''}">${slot.number === 0 ? 'first' : `+${brief(slot.offset)}`}${slot.number === plan.retries && html`<br />deadline`}</span>
      </span>`)}
      ${!final && here !== null && html`<span class="life-now" style=${{ left: share(here) }}><span>now</span></span>`}
    </div>
    <p class="key" aria-hidden="true">
      <span><i class="life-key life-failed"></i>failed</span><span><i class="life-key life-delivered"></i>delivered</span>
      ${!final && html`<span><i class="life-key life-next"></i>next</span><span><i class="life-key life-coming"></i>to come</span>`}
      ${final && used <= plan.retries && html`<span><i class="life-key life-unused"></i>${message.status === 'dropped' ? SLOT_TEXT.missed : SLOT_TEXT.unused}</span>`}
      ${plan.extra.length > 0 && html`<span><i class="life-key life-key-extra"></i>outside of the schedule</span>`}
      <span>each gap is twice the one before; the last is the deadline</span>
    </p>
    <${Fold} title="The schedule as a table">
      <div class="table-wrap"><table class="table table-plain"><caption class="off-screen">Scheduled attempts</caption>
        <thead><tr><th scope="col">Slot</th><th scope="col">After the first failure</th><th scope="col">At</th><th scope="col">What became of it</th></tr></thead>
        <tbody>${plan.slots.map((slot) => html`<tr key=${slot.number}>
          <th scope="row" data-title="Slot">${slot.number === 0 ? 'First attempt' : `Retry ${slot.number}`}</th>
          <td data-title="After the first failure">${slot.number === 0 ? '–' : duration(slot.offset)}</td>
          <td data-title="At">${slot.number === 0 ? (slot.attempt ? html`<${Time} time=${slot.attempt.at} />` : '–') : slot.at === null ? html`<span class="quiet">not known yet</span>` : html`<${Time} time=${new Date(slot.at).toISOString()} />`}</td>
          <td data-title="What became of it">${slotText(slot, message)}${slot.attempt ? ` at ${clockTime(slot.attempt.at)}` : slot.number === plan.retries ? ' (the deadline)' : ''}</td>
        </tr>`)}</tbody></table></div>
    <//>`;
}

function slotTitle(slot, message) {
  const name = slot.number === 0 ? 'First attempt' : `Retry ${slot.number}`;
  const when = slot.attempt ? utc(slot.attempt.at) : slot.at === null ? '' : utc(slot.at);
  return `${name}: ${slotText(slot, message)}${when === '' ? '' : `, ${when}`}`;
}

function sentence(message, plan, used, now) {
  const all = plan.retries + 1;
  const some = plan.known ? `${used} of ${all} scheduled attempts are` : `${plural(used, 'scheduled attempt')} ${used === 1 ? 'is' : 'are'}`;
  switch (message.status) {
    case 'pending': return 'It has not been tried yet: its first attempt is about to come.';
    case 'delivered': return used === 1 && plan.extra.length === 0 ? 'Delivered by its first attempt.' : `Delivered with ${used === 0 ? 'an attempt outside of the schedule' : plan.known ? `${used} of ${all} scheduled attempts` : plural(used, 'scheduled attempt')}${plan.extra.length > 0 && used > 0 ? ` and ${plan.extra.length} outside of the schedule` : ''}.`;
    case 'dropped': return message.reason === 'exhausted' ? exhausted(plan, used, all) : `${dropText(message.reason)} ${plural(used, 'scheduled attempt')}${plan.known ? ` of ${all}` : ''} had been made.`;
    case 'parked': return `${some} used up. It is held back until it may be delivered again${message.deadline ? `; it is given up ${until(message.deadline, now)}` : ''}.`;
    default: return `${some} used up. Its next slot ${message.nextAttemptAt && Date.parse(message.nextAttemptAt) > now ? `comes ${until(message.nextAttemptAt, now)}` : 'has come'}${message.deadline ? `; it is given up ${until(message.deadline, now)}` : ''}.`;
  }
}

/** The first scheduled attempt at or after the deadline is the last, so that one that was held back for long has fewer of them. */
function exhausted(plan, used, all) {
  if (!plan.known) {
    return `${used === 1 ? 'Its only scheduled attempt' : `All of its ${used} scheduled attempts`} failed, and no more may be made.`;
  }
  if (used >= all) {
    return `All ${used} scheduled attempts failed.`;
  }
  return used === 1 ? `Only 1 of ${all} scheduled attempts was made, after its deadline, and failed.` : `Only ${used} of ${all} scheduled attempts were made, the last of them after its deadline, and all failed.`;
}

/** 85 s, 4 min, 1.5 h: one unit, for the axis. */
function brief(millis) {
  const seconds = (millis * speed()) / 1000;
  if (seconds < 100) {
    return `${Math.round(seconds)} s`;
  }
  if (seconds < 5000) {
    return `${Math.round(seconds / 60)} min`;
  }
  return `${seconds < 36_000 ? Number((seconds / 3600).toFixed(1)) : Math.round(seconds / 3600)} h`;
}

function Attempts({ message }) {
  if (message.attempts.length === 0) {
    return html`<${Empty} title="Not tried yet"><p>${message.status === 'parked' ? 'It was held back when it came.' : 'Its first attempt is about to come.'}</p><//>`;
  }
  const last = message.attempts.length;
  return html`<ol class="attempts">${[...message.attempts].reverse().map((one) => html`<li key=${one.number} class="attempt">
    <div class="attempt-head">
      <span class="attempt-number">${one.number}</span>
      <${StatusBadge} status=${one.outcome} text=${one.outcome === 'success' ? `Answered ${one.status}` : errorText(one.error, one.status)} />
      <span class="attempt-when"><${Time} time=${one.at} /></span>
      <span class="attempt-took" title="How long it took">${latency(one.durationMillis)}</span>
    </div>
    <p class="attempt-note quiet">${one.scheduled ? 'Scheduled' : 'Outside of the schedule: a probe, recovery or a retry by hand'}${one.response === '' ? '; the answer had no body' : ''}</p>
    ${one.response !== '' && html`<${Fold} title="What it answered" open=${one.number === last && one.outcome === 'failure'}><${Code} text=${one.response} label="the answer to attempt ${one.number}" json /><//>`}
  </li>`)}</ol>`;
}

function Request({ message }) {
  const load = useLoad(() => get(`/v1/messages/${encodeURIComponent(message.id)}/request`), [message.id]);
  const gone = load.error?.status === 404;
  return html`<${Card} kind="roomy" title="What is sent" aside=${load.data && html`<${Copy} text=${load.data.curl} label="Copy as curl" word />`}>
    ${gone ? html`<${Empty} title="No longer known"><p>${load.error.detail}</p><//>` : html`<${Loaded} load=${load} rows=${6}>${(request) => html`
      <p class="request-line"><strong>${request.method}</strong> <code class="breakable">${request.url}</code></p>
      <table class="table table-plain headers"><caption class="off-screen">Headers</caption>
        <thead class="off-screen"><tr><th scope="col">Header</th><th scope="col">Value</th></tr></thead>
        <tbody>${request.headers.map((header, i) => html`<tr key=${i}><th scope="row"><code>${header.name}</code></th><td><code class="breakable">${header.value}</code>${header.value.startsWith('****') && html`<span class="off-screen"> (hidden)</span>`}</td></tr>`)}</tbody></table>
      ${request.bodyCut && html`<${Note} kind="info">Only the first ${bytes(new TextEncoder().encode(request.body).length)} of ${bytes(request.bodyBytes)} are shown. All of the data stands on the <a href="/events/${encodeURIComponent(message.event)}">page of its event</a>.<//>`}
      <${Code} text=${request.body} label="the body" json tall />
      <p class="hint">As an attempt of now would send it. Secrets are shown as ****: put them in before you use the curl command.${request.bodyBytes > CURL_BODY_BYTES ? html` The command takes the body, which is too long for it, from the file <code>body.json</code>: write that first.` : ''}</p>`}<//>`}
  <//>`;
}
