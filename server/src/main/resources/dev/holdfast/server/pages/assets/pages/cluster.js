// The page /cluster: the nodes that share a database, and which decides for which shards.
import { html, useState } from '../lib/html.js';
import { get } from '../lib/api.js';
import { useLoad } from '../lib/load.js';
import { may } from '../lib/session.js';
import { number, latency, plural } from '../lib/format.js';
import { PageHeader, Card, Loaded, Empty, Ago, Facts, StatusBadge, Note } from '../parts/basics.js';
import { Table } from '../parts/table.js';

export default function Cluster() {
  if (!may('look-at-server')) {
    return html`<${PageHeader} title="Cluster" /><${Empty} title="The cluster is about all tenants"><p>Sign in with a key for all tenants.</p><//>`;
  }
  return html`<${Shown} />`;
}

function Shown() {
  const load = useLoad(() => get('/v1/cluster', {}, { wide: true }), [], { every: 2000 });
  return html`
    <${PageHeader} title="Cluster" sub="Servers that share a database: each decides for its share of 256 shards, and each endpoint is in one of them." />
    <${Loaded} load=${load} rows=${8}>${(cluster) => (cluster.shards.length === 0 ? html`<${Alone} cluster=${cluster} />` : html`<${Nodes} cluster=${cluster} />`)}<//>`;
}

function Alone({ cluster }) {
  const [node] = cluster.nodes;
  return html`<${Card} kind="roomy" title="This server runs alone">
    <p class="card-text">Its store is embedded and its own, so that there is nothing to share. For several servers, start each with the same <code>store.url</code> of a PostgreSQL.</p>
    ${node && html`<${Facts} items=${[['Name', node.name], ['Version', node.version], ['Running', html`since <${Ago} time=${node.since} />`]]} />`}
  <//>`;
}

function Nodes({ cluster }) {
  const [chosen, setChosen] = useState(null);
  const order = new Map(cluster.nodes.map((node, i) => [node.id, i]));
  const orphans = cluster.shards.filter((shard) => shard.node === null).length;
  const versions = new Set(cluster.nodes.map((node) => node.version));
  return html`
    ${orphans > 0 && html`<${Note} kind="warn">${plural(orphans, 'shard')} of 256 ${orphans === 1 ? 'has' : 'have'} no node now. The others take over within seconds; if this stays, see the logs of the nodes.<//>`}
    ${versions.size > 1 && html`<${Note} kind="info">The nodes are of different versions: ${[...versions].join(', ')}.<//>`}
    <${Card} title="Nodes" flush>
      <${Table} label="Nodes" rows=${cluster.nodes} keyOf=${(row) => row.id} columns=${[
        { name: 'name', title: 'Node', main: true, cell: (row) => html`<span class="node-name"><i class="node-key node-${order.get(row.id) % 6}" aria-hidden="true"></i><span class="two-lines"><b>${row.name}${row.id === cluster.self ? ' (asked)' : ''}</b><small>node ${row.id}, ${row.version}</small></span></span>` },
        { name: 'lease', title: 'Lease', cell: (row) => row.leaseLeftMillis === null ? '–' : row.leaseLeftMillis < 0 ? html`<${StatusBadge} status="failing" text="over" title="It is not heard; others take over" />` : latency(row.leaseLeftMillis) },
        { name: 'shards', title: 'Shards', numeric: true, cell: (row) => number(row.shards) },
        { name: 'inflight', title: 'In flight', numeric: true, cell: (row) => number(row.report?.inFlight) },
        { name: 'pending', title: 'Pending', numeric: true, cell: (row) => number(row.report?.pending) },
        { name: 'waiting', title: 'Waiting', numeric: true, cell: (row) => number(row.report?.waiting) },
        { name: 'parked', title: 'Parked', numeric: true, cell: (row) => number(row.report?.parked) },
        { name: 'delivered', title: 'Delivered', numeric: true, cell: (row) => number(row.report?.delivered) },
        { name: 'behind', title: 'Behind', numeric: true, cell: (row) => row.report ? html`<span title="Changes of subscriptions and settings that it has not learned of">${number(row.report.versionsBehind)}</span>` : '–' },
        { name: 'clock', title: 'Clock', numeric: true, cell: (row) => row.report ? html`<span title="By how much the database’s clock is ahead of its own">${row.report.clockOffsetMillis} ms</span>` : '–' },
        { name: 'since', title: 'Started', cell: (row) => html`<${Ago} time=${row.since} />` },
      ]} />
    <//>
    <${Card} kind="roomy" title="Shards" aside=${html`<span class="quiet">${chosen === null ? 'each square is a shard' : describe(chosen, cluster)}</span>`}>
      <div class="shards" role="img" aria-label=${summary(cluster, orphans)} onMouseLeave=${() => setChosen(null)}>
        ${cluster.shards.map((shard) => html`<span key=${shard.shard} class="shard ${shard.node === null ? 'shard-none' : `node-${(order.get(shard.node) ?? 5) % 6}`}" title=${describe(shard, cluster)} onMouseEnter=${() => setChosen(shard)}></span>`)}
      </div>
      <p class="key">${cluster.nodes.map((node) => html`<span key=${node.id}><i class="node-key node-${order.get(node.id) % 6}"></i>${node.name}: ${number(node.shards)}</span>`)}${orphans > 0 && html`<span><i class="node-key shard-none"></i>nobody: ${orphans}</span>`}</p>
    <//>
    <${Card} kind="roomy" title="Between the nodes">
      <${Facts} items=${[
        ['Handovers', html`${number(cluster.lag.handovers)}<span class="quiet block">groups of messages that are not taken yet</span>`],
        ['Oldest handover', latency(cluster.lag.oldestHandoverMillis)],
        ['Calls', html`${number(cluster.lag.calls)}<span class="quiet block">requests that another node has not answered</span>`],
      ]} />
    <//>`;
}

function describe(shard, cluster) {
  const node = cluster.nodes.find((one) => one.id === shard.node);
  return `Shard ${shard.shard}: ${shard.node === null ? 'nobody' : node ? node.name : `node ${shard.node}`}, changed ${plural(shard.epoch, 'time')}`;
}

function summary(cluster, orphans) {
  return `${cluster.nodes.map((node) => `${node.name} has ${node.shards} shards`).join(', ')}${orphans > 0 ? `, ${orphans} have no node` : ''}`;
}
