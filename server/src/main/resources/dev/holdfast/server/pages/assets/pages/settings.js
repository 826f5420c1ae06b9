// The page /settings: what the running server uses, and where it has it from.
import { html } from '../lib/html.js';
import { get } from '../lib/api.js';
import { useLoad } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { may } from '../lib/session.js';
import { plural } from '../lib/format.js';
import { PageHeader, Card, Loaded, Empty, Button } from '../parts/basics.js';
import { Table, Filters } from '../parts/table.js';
import { TextField, Check } from '../parts/form.js';

const FROM = { default: 'default', file: 'file', argument: 'command line', environment: 'environment' };

export default function Settings() {
  if (!may('look-at-server')) {
    return html`<${PageHeader} title="Settings" /><${Empty} title="Settings are about all tenants"><p>Sign in with a key for all tenants.</p><//>`;
  }
  return html`<${List} />`;
}

function List() {
  const [asked, ask] = useQuery({ q: '', changed: '' });
  const load = useLoad(() => get('/v1/settings', {}, { wide: true }), []);
  const text = asked.q.toLowerCase();
  const fits = (row) => (text === '' || row.name.includes(text) || (row.about || '').toLowerCase().includes(text)) && (asked.changed === '' || row.from !== 'default');
  return html`
    <${PageHeader} title="Settings" sub="What this server was started with. Change them in its file, by --set or in its environment, and start it again." />
    <${Card} flush>
      <${Filters}>
        <${TextField} label="Find" type="search" compact wait=${100} value=${asked.q} onInput=${(q) => ask({ q })} placeholder="retry, limit, …" />
        <${Check} label="Only those that are not the default" checked=${asked.changed !== ''} onChange=${(on) => ask({ changed: on ? '1' : '' })} />
      <//>
      <${Loaded} load=${load} rows=${10}>${(data) => {
        const rows = data.items.filter(fits);
        return rows.length === 0
          ? html`<${Empty} title="None of ${plural(data.items.length, 'setting')} fits"><${Button} small onClick=${() => ask({ q: '', changed: '' })}>Show all<//><//>`
          : html`<${Table} label="Settings" rows=${rows} keyOf=${(row) => row.name} rowClass=${(row) => (row.from === 'default' ? '' : 'row-changed')} columns=${[
            { name: 'name', title: 'Setting', main: true, cell: (row) => html`<code class="nowrap">${row.name}</code>` },
            { name: 'value', title: 'Value', cell: (row) => html`<${Value} text=${row.value} strong=${row.from !== 'default'} />` },
            { name: 'default', title: 'Default', cell: (row) => html`<span class="quiet"><${Value} text=${row.default} /></span>` },
            { name: 'from', title: 'From', cell: (row) => html`<span class=${row.from === 'default' ? 'quiet' : ''}>${FROM[row.from] || row.from}</span>` },
            { name: 'about', title: 'About', wide: true, cell: (row) => row.about },
          ]} />`;
      }}<//>
    <//>`;
}

function Value({ text, strong = false }) {
  if (text === '' || text === null || text === undefined) {
    return html`<span class="quiet">none</span>`;
  }
  return html`<code class="${text.length > 24 ? 'breakable' : 'nowrap'} ${strong ? 'strong' : ''}">${text}</code>`;
}
