// The list of endpoints, and what the other pages show of one: useLimits() and <${Limits}>.
import { html } from '../lib/html.js';
import { get } from '../lib/api.js';
import { may, speed } from '../lib/session.js';
import { useLoad, usePages } from '../lib/load.js';
import { useQuery } from '../lib/router.js';
import { useChanges } from '../lib/live.js';
import { useNow } from '../lib/clock.js';
import { duration, host, number, percent, plural, reasonText, setting } from '../lib/format.js';
import { Age, Ago, Card, Countdown, Empty, LoadError, Loading, PageHeader, StateBadge } from '../parts/basics.js';
import { Filters, More, Table } from '../parts/table.js';
import { Select, TextField } from '../parts/form.js';
import { Bar, Sparkline } from '../parts/charts.js';

const DEFAULTS = {
  minAttempts: 100, failureRate: 0.7, disableAfter: 2000, freezeAt: 50_000, freezeSilenceMillis: 72 * 3_600_000, timeoutMillis: 5000, known: false,
};

const HOUR_MILLIS = 3_600_000;

/** The limits of the rules: the server's where the key may see them, else those that Holdfast comes with. */
export function useLimits() {
  const load = useLoad(() => get('/v1/settings', {}, { wide: true }), [], { when: may('look-at-server') });
  if (load.data === undefined) {
    // Times of the rules are shown multiplied by the speed, so that what Holdfast comes with is given by it.
    return { ...DEFAULTS, freezeSilenceMillis: DEFAULTS.freezeSilenceMillis / speed() };
  }
  const values = Object.fromEntries(load.data.items.map((item) => [item.name, item.value]));
  const or = (value, otherwise) => (Number.isFinite(value) ? value : otherwise);
  return {
    minAttempts: or(Number.parseInt(values['circuit.min-attempts'], 10), DEFAULTS.minAttempts),
    failureRate: or(Number.parseFloat(values['circuit.failure-rate']), DEFAULTS.failureRate),
    disableAfter: or(Number.parseInt(values['circuit.disable-after'], 10), DEFAULTS.disableAfter),
    freezeAt: or(Number.parseInt(values['circuit.freeze-at'], 10), DEFAULTS.freezeAt),
    freezeSilenceMillis: or(setting(values['circuit.freeze-silence'] || ''), DEFAULTS.freezeSilenceMillis),
    timeoutMillis: or(setting(values['delivery.timeout'] || ''), DEFAULTS.timeoutMillis),
    known: true,
  };
}

export function failureRate(endpoint) {
  const { attempts, failures } = endpoint.sinceEnabled;
  return attempts === 0 ? null : failures / attempts;
}

export function held(endpoint) {
  return endpoint.pending + endpoint.waiting + endpoint.parked;
}

/** How far an endpoint is from the next worse state. */
export function Limits({ endpoint, limits }) {
  const now = useNow(1000);
  const row = endpoint.consecutiveFailures;
  if (endpoint.state === 'frozen' || (endpoint.state === 'disabled' && !endpoint.nextProbeAt)) {
    return html`<div class="limits"><small>${plural(row, 'failure')} in a row</small></div>`;
  }
  const usual = limits.known ? '' : ' (usual limits)';
  if (endpoint.state === 'disabled') {
    // Frozen by silence needs both: more than so many failures in a row, and no success for so long.
    const silence = limits.freezeSilenceMillis;
    const silent = endpoint.lastSuccessAt ? Math.max(0, now - Date.parse(endpoint.lastSuccessAt)) : null;
    const quiet = silent === null ? `no success for ${duration(silence)} since it was created` : `silent ${silenceText(silent, silence)}`;
    return html`<div class="limits">
      <${Limit} text=${`frozen when both: ${number(row)} of more than ${number(limits.disableAfter)} in a row, and ${quiet}${usual}`} share=${Math.min(row / limits.disableAfter, silent === null ? 1 : silent / silence)} />
      ${row > limits.disableAfter && html`<${Limit} text=${`or ${number(row)} of ${number(limits.freezeAt)} in a row${usual}`} share=${row / limits.freezeAt} />`}
    </div>`;
  }
  const { attempts } = endpoint.sinceEnabled;
  if (attempts === 0 && row === 0) {
    return html`<div class="limits"><small>not tried since it was enabled</small></div>`;
  }
  const rate = failureRate(endpoint) ?? 0;
  const counts = attempts > limits.minAttempts && limits.failureRate < 1;
  return html`<div class="limits">
    <${Limit} text=${`${percent(rate)} of ${number(attempts)}, ${limits.failureRate >= 1 ? 'no limit' : counts ? `limit ${percent(limits.failureRate)}` : `counts from ${number(limits.minAttempts)}`}${usual}`} share=${counts ? rate / limits.failureRate : 0} />
    ${row > 0 && html`<${Limit} text=${`${number(row)} in a row, limit ${number(limits.disableAfter)}${usual}`} share=${row / limits.disableAfter} />`}
  </div>`;
}

/** '60 of 72 h': both in the same unit. */
function silenceText(silent, limit) {
  const hours = (limit * speed()) / HOUR_MILLIS;
  return hours >= 2 ? `${number(Math.floor((silent * speed()) / HOUR_MILLIS))} of ${number(hours)}\u202fh` : `${duration(silent)} of ${duration(limit)}`;
}

function Limit({ text, share }) {
  return html`<div><small>${text}</small><${Bar} value=${share} max=${1} tone=${toneOf(share)} label=${text} /></div>`;
}

function toneOf(share) {
  return share >= 0.8 ? 'bad' : share >= 0.4 ? 'warn' : 'plain';
}

const STATES = [['', 'All states'], ['enabled', 'Enabled'], ['disabled', 'Disabled'], ['frozen', 'Frozen']];
const SORTS = [['newest', 'Newest first'], ['url', 'URL'], ['state', 'State'], ['failures', 'Failures in a row'], ['waiting', 'Messages held']];
const PAGE = 50;

export default function Endpoints() {
  const [filters, setFilters] = useQuery({ q: '', state: '', sort: 'newest' });
  const limits = useLimits();
  const list = usePages(
    (cursor) => get('/v1/endpoints', { q: filters.q, state: filters.state, sort: filters.sort === 'newest' ? '' : filters.sort, cursor, limit: PAGE }),
    [filters.q, filters.state, filters.sort],
    { every: 5000 },
  );
  useChanges(() => !list.deep && list.reload());
  const recent = useRecent(list.items, list.deep);
  const filtered = filters.q !== '' || filters.state !== '';
  const columns = [
    { name: 'url', title: 'URL', main: true, wide: true, sort: 'url', cell: (row) => html`<span class="two-lines"><a class="two-rows" href="/endpoints/${row.id}" title=${row.url}>${host(row.url)}</a><small><code>${row.id}</code></small></span>` },
    { name: 'state', title: 'State', sort: 'state', cell: (row) => html`<span class="two-lines"><${StateBadge} state=${row.state} /><small class="nowrap" title=${reasonText(row.reason, row.state)}>for <${Age} time=${row.since} /></small></span>` },
    { name: 'recent', title: 'Last attempts', cell: (row) => html`<${Sparkline} attempts=${recent.get(row.id)} />` },
    { name: 'limits', title: 'Failures against limits', sort: 'failures', cell: (row) => html`<${Limits} endpoint=${row} limits=${limits} />` },
    { name: 'probe', title: 'Next probe', cell: (row) => (row.nextProbeAt ? html`<${Countdown} time=${row.nextProbeAt} past="due" />` : row.state === 'enabled' ? '' : html`<span class="quiet">none</span>`) },
    { name: 'success', title: 'Last success', cell: (row) => (row.lastSuccessAt ? html`<${Ago} time=${row.lastSuccessAt} />` : html`<span class="quiet">never</span>`) },
    { name: 'waiting', title: 'Held', numeric: true, sort: 'waiting', cell: (row) => html`<span title="${number(row.pending)} pending, ${number(row.waiting)} waiting, ${number(row.parked)} parked">${held(row) === 0 ? html`<span class="quiet">0</span>` : html`<a href="/messages?endpoint=${row.id}&status=pending,waiting,parked">${number(held(row))}</a>`}</span>` },
  ];
  return html`<${PageHeader} title="Endpoints" sub="One URL of the tenant each. Health belongs to the endpoint, whichever subscriptions use it." />
    <${Filters} label="Find endpoints">
      <${TextField} label="Search" type="search" compact wait=${300} value=${filters.q} onInput=${(q) => setFilters({ q })} placeholder="Part of the host or path" />
      <${Select} label="State" compact value=${filters.state} onChange=${(state) => setFilters({ state })} options=${STATES} />
      <${Select} label="Sort by" compact value=${filters.sort} onChange=${(sort) => setFilters({ sort })} options=${SORTS} />
    <//>
    <${Card} flush>
      <${LoadError} load=${list} />
      ${list.loading && html`<${Loading} rows=${8} />`}
      ${list.items && list.items.length === 0 && !list.next && (filtered
        ? html`<${Empty} title="No endpoint is like that."><a href="/endpoints">Show all endpoints</a><//>`
        : html`<${Empty} title="There are no endpoints yet.">An endpoint comes with its first subscription. ${may('manage') && html`<a href="/subscriptions/new">Make a subscription</a>`}<//>`)}
      ${list.items && list.items.length > 0 && html`<${Table} label="Endpoints" rows=${list.items} keyOf=${(row) => row.id} columns=${columns} sort=${filters.sort} onSort=${(sort) => setFilters({ sort: filters.sort === sort ? 'newest' : sort })} fixed=${{ url: 'ascending', state: 'ascending' }} />`}
      ${list.items && (list.items.length > 0 || list.next) && html`<${More} list=${list} noun="endpoints" />`}
    <//>`;
}

const RECENT = 100;

/** The newest attempts of the endpoints that are shown, by id. */
function useRecent(items, deep) {
  const ids = (items || []).map((item) => item.id);
  const load = useLoad(async (signal) => {
    const found = new Map();
    for (let from = 0; from < ids.length; from += RECENT) {
      const answer = await get('/v1/endpoints/recent', { ids: ids.slice(from, from + RECENT) }, { signal });
      answer.items.forEach((item) => found.set(item.endpoint, item.attempts));
    }
    return found;
  }, [ids.join()], { every: deep ? 0 : 5000, keep: true, when: ids.length > 0 });
  return load.data || new Map();
}
