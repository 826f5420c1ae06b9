// The page /replays/{id}: how far a replay is.
import { html, useState } from '../lib/html.js';
import { get, post } from '../lib/api.js';
import { useLoad, useAction } from '../lib/load.js';
import { may } from '../lib/session.js';
import { number } from '../lib/format.js';
import { useUrls } from '../lib/names.js';
import { Card, Facts, Id, Ago, Time, Button, Confirm, StatusBadge, notify } from '../parts/basics.js';
import { EndpointLink, Progress, Detail } from '../parts/look.js';

const BACK = { href: '/replays', text: 'Replays' };

export default function Replay({ params }) {
  const { id } = params;
  const path = `/v1/replays/${encodeURIComponent(id)}`;
  const [running, setRunning] = useState(true);
  const load = useLoad(async () => {
    const replay = await get(path);
    setRunning(replay.state === 'running');
    return replay;
  }, [id], { every: running ? 1000 : 0 });
  const [asking, setAsking] = useState(false);
  const header = (replay) => ({
    title: replay.kind === 'history' ? 'History for a subscription' : 'Replay of messages',
    badge: html`<${StatusBadge} status=${replay.state} text=${replay.state} />`,
    sub: html`<${Id} value=${replay.id} copy />`,
    actions: replay.state === 'running' && may('manage') && html`<${Button} kind="danger" onClick=${() => setAsking(true)}>Cancel…<//>`,
  });
  return html`<${Detail} load=${load} noun="replay" back=${BACK} rows=${6} header=${header}>${(replay) => html`<${Shown} replay=${replay} path=${path} load=${load} asking=${asking} setAsking=${setAsking} />`}<//>`;
}

function Shown({ replay, path, load, asking, setAsking }) {
  const urls = useUrls(replay.endpoint ? [replay.endpoint] : []);
  const cancel = useAction(async () => {
    load.set(await post(`${path}/cancel`));
    setAsking(false);
    notify('Cancelled. The messages that it has made stay.');
  });
  const until = replay.until ?? (replay.kind === 'history' ? replay.createdAt : null);
  return html`
    <${Card} kind="roomy" title="Progress"><div class="progress-large"><${Progress} ...${replay} /></div>
      <${Facts} items=${[
        ['Made', `${number(replay.done)} new messages`],
        ['Left out', html`${number(replay.skipped)}<span class="quiet block">${replay.kind === 'history' ? 'events that do not fit' : 'replayed before, or their subscription has ended'}</span>`],
        ['In all', replay.total === null ? html`<span class="quiet">not known yet</span>` : number(replay.total)],
        ['Begun', html`<${Ago} time=${replay.createdAt} /><span class="quiet block"><${Time} time=${replay.createdAt} /></span>`],
      ]} />
    <//>
    <${Card} kind="roomy" title=${replay.kind === 'history' ? 'What it brings' : 'What it sends again'}>
      <${Facts} items=${[
        ['Endpoint', replay.endpoint ? html`<${EndpointLink} id=${replay.endpoint} url=${urls(replay.endpoint)} />` : html`<span class="quiet">any</span>`],
        ['Subscription', replay.subscription ? html`<${Id} value=${replay.subscription} href="/subscriptions/${replay.subscription}" />` : html`<span class="quiet">any</span>`],
        replay.kind === 'messages' && ['Messages that were', replay.status.join(' or ')],
        ['Since', replay.since === null ? html`<span class="quiet">the beginning</span>` : html`<${Time} time=${replay.since} />`],
        ['Before', until === null ? html`<span class="quiet">it began</span>` : html`<${Time} time=${until} />`],
        replay.kind === 'messages' && ['Replayed before', replay.again ? 'sent once more' : 'left out'],
      ]} />
      ${(replay.endpoint || replay.subscription) && html`<p class="hint"><a href="/messages?${replay.endpoint ? `endpoint=${replay.endpoint}` : `subscription=${replay.subscription}`}&since=${encodeURIComponent(replay.createdAt)}">Messages made since it began</a></p>`}
    <//>
    <${Confirm} open=${asking} title="Cancel this replay?" action="Cancel the replay" kind="danger" busy=${cancel.busy} error=${cancel.error} onConfirm=${() => cancel.run()} onCancel=${() => setAsking(false)}
      text="It stops where it is. The ${number(replay.done)} messages that it has made are still delivered." />`;
}
