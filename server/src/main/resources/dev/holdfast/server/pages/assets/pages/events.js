// The page /events: what came in lately, what became of it, and a form for a test event.
import { html, useState } from '../lib/html.js';
import { get } from '../lib/api.js';
import { usePages, useAction } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { may } from '../lib/session.js';
import { bytes, plural } from '../lib/format.js';
import { sendText, mistake, pretty } from '../lib/exact.js';
import { PageHeader, Card, Loaded, Empty, Ago, Button, ErrorBox, Note, Id } from '../parts/basics.js';
import { Table, More, Filters } from '../parts/table.js';
import { TextField, TextArea, FormActions, fieldError } from '../parts/form.js';
import { Counts, Span, SPAN, rangeOf } from '../parts/look.js';

const ASKED = { type: '', subject: '', ...SPAN };
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export default function Events() {
  const [asked, ask] = useQuery({ ...ASKED, send: '' });
  const { type, subject, last, since, until } = asked;
  const list = usePages(
    (cursor) => get('/v1/events', { type, subject, ...rangeOf(asked), cursor, limit: 50 }),
    [type, subject, last, since, until],
    { every: 5000 },
  );
  const filtered = Object.entries(ASKED).some(([name, absent]) => asked[name] !== absent);
  const clear = () => ask(ASKED);
  const sending = may('publish') && asked.send !== '';
  return html`
    <${PageHeader} title="Events" sub="What happened, newest first, and the messages that came of it.">
      ${may('publish') && !sending && html`<${Button} kind="primary" onClick=${() => ask({ send: '1' })}>Send a test event<//>`}
    <//>
    ${sending && html`<${Send} onClose=${() => ask({ send: '' })} onSent=${list.reload} />`}
    <${Card} flush>
      <${Filters}>
        <${TextField} label="Type" type="search" compact mono wait=${400} value=${type} onInput=${(value) => ask({ type: value })} placeholder="order.*" />
        <${TextField} label="Subject" type="search" compact mono wait=${400} value=${subject} onInput=${(value) => ask({ subject: value })} placeholder="order-77" />
        <${Span} label="Accepted" values=${asked} onChange=${ask} />
        ${filtered && html`<div class="filters-end"><${Button} small onClick=${clear}>Clear all<//></div>`}
      <//>
      <${Loaded} load=${list} rows=${8} empty=${(data) => data.items.length === 0 && !data.next} whenEmpty=${filtered
        ? html`<${Empty} title="No event fits"><p>Ask for less, or look at a longer time. In a type <code>*</code> stands for any text.</p><${Button} small onClick=${clear}>Clear all filters<//><//>`
        : html`<${Empty} title="No events yet"><p>Events come with <code>POST /v1/events</code>.${may('publish') && ' Send a test event to see what becomes of one.'}</p>${may('publish') && !sending && html`<${Button} small onClick=${() => ask({ send: '1' })}>Send a test event<//>`}<//>`}>
        ${(data) => html`
          <${Table} label="Events" rows=${data.items} keyOf=${(row) => row.id} columns=${[
            { name: 'type', title: 'Event', main: true, cell: (row) => html`<a class="two-lines" href="/events/${encodeURIComponent(row.id)}"><span class="breakable clamp">${row.type}</span><code class="quiet breakable">${row.id}</code></a>` },
            { name: 'subject', title: 'Subject', wide: true, cell: (row) => row.subject === null ? html`<span class="quiet">–</span>` : html`<span class="subject clamp" title=${row.subject}>${row.subject}</span>` },
            { name: 'messages', title: 'Messages', cell: (row) => html`<${Counts} counts=${row.messages} event=${row.id} />` },
            { name: 'bytes', title: 'Size', numeric: true, cell: (row) => bytes(row.bytes) },
            { name: 'accepted', title: 'Accepted', cell: (row) => html`<${Ago} time=${row.acceptedAt} />` },
          ]} />
          <${More} list=${list} noun="events" />`}
      <//>
    <//>`;
}

const EXAMPLE = '{\n  "state": "paid",\n  "amount": 12.50\n}';

function Send({ onClose, onSent }) {
  const [type, setType] = useState('order.paid');
  const [subject, setSubject] = useState('');
  const [data, setData] = useState(EXAMPLE);
  const [previous, setPrevious] = useState('');
  const [receipt, setReceipt] = useState(null);
  // What was typed is sent as it is, byte by byte: JSON.stringify would change digits.
  const send = useAction(async () => {
    setReceipt(null);
    const parts = [`"type":${JSON.stringify(type)}`];
    if (subject !== '') {
      parts.push(`"subject":${JSON.stringify(subject)}`);
    }
    parts.push(`"data":${data}`);
    if (previous.trim() !== '') {
      parts.push(`"previous":${previous}`);
    }
    setReceipt(JSON.parse(await sendText('POST', '/v1/events', `{${parts.join(',')}}`)));
    onSent();
  });
  const wrong = {
    type: type === '' ? 'Say what happened, such as order.paid.' : type.includes('*') ? 'A type has no *, which is for patterns.' : CONTROL.test(type) || type.length > 256 ? 'At most 256 characters, and none that control a screen.' : '',
    subject: CONTROL.test(subject) || subject.length > 256 ? 'At most 256 characters, and none that control a screen.' : '',
    data: mistake(data),
    previous: previous.trim() === '' ? '' : mistake(previous),
  };
  const bad = Object.values(wrong).some((text) => text !== '');
  const submit = (event) => {
    event.preventDefault();
    if (!bad) {
      send.run();
    }
  };
  const named = ['type', 'subject', 'data', 'previous'];
  return html`<${Card} kind="roomy" title="Send a test event" aside=${html`<${Button} small onClick=${onClose}>Close<//>`}>
    <form class="form" onSubmit=${submit}>
      <div class="pair">
        <${TextField} label="Type" required mono autofocus value=${type} onInput=${setType} error=${wrong.type || fieldError(send.error, 'type')} />
        <${TextField} label="Subject" mono value=${subject} onInput=${setSubject} placeholder="none" error=${wrong.subject || fieldError(send.error, 'subject')} />
      </div>
      <div class="pair">
        <${TextArea} label="Data" mono rows=${7} value=${data} onInput=${setData} error=${wrong.data || fieldError(send.error, 'data')} />
        <${TextArea} label="Previous (the state before)" mono rows=${7} value=${previous} onInput=${setPrevious} placeholder="none" error=${wrong.previous || fieldError(send.error, 'previous')} />
      </div>
      ${send.error && !named.includes(send.error.field) && html`<${ErrorBox} error=${send.error} />`}
      <${FormActions}>
        <${Button} type="submit" kind="primary" busy=${send.busy} disabled=${bad}>Send<//>
        <${Button} disabled=${wrong.data !== ''} onClick=${() => setData(pretty(data))}>Tidy the data<//>
        <span class="hint">It is a real event: subscriptions that want it get it.</span>
      <//>
    </form>
    <div role="status">${receipt && html`<${Note} kind="good">Accepted as <${Id} value=${receipt.id} href="/events/${encodeURIComponent(receipt.id)}" />, with ${plural(receipt.messages, 'message')}.${receipt.messages === 0 ? ' No subscription wants it: the event’s page says why.' : ''}<//>`}</div>
  <//>`;
}
