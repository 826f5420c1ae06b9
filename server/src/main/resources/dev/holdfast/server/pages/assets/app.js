// The start of the pages: who is signed in, which page an address means, and the frame around it.
import { html, render, Component, useState, useEffect, useRef } from './lib/html.js';
import { match, navigate, useRoute } from './lib/router.js';
import { useSession, session, onSession, may, tenant, knownTenants, chooseTenant, signIn, signOut, resume, speed } from './lib/session.js';
import { startLive, stopLive, useLive, useLiveState } from './lib/live.js';
import { get } from './lib/api.js';
import { number } from './lib/format.js';
import { Button, Confirm, Empty, ErrorBox, Loading, Note, Notices, PageHeader, Shape, notify } from './parts/basics.js';
import { TextField } from './parts/form.js';

const ROUTES = [
  ['/', () => import('./pages/overview.js')],
  ['/endpoints', () => import('./pages/endpoints.js')],
  ['/endpoints/:id', () => import('./pages/endpoint.js')],
  ['/messages', () => import('./pages/messages.js')],
  ['/messages/:id', () => import('./pages/message.js')],
  ['/events', () => import('./pages/events.js')],
  ['/events/:id', () => import('./pages/event.js')],
  ['/subscriptions', () => import('./pages/subscriptions.js')],
  ['/subscriptions/new', () => import('./pages/subscription-edit.js')],
  ['/subscriptions/:id', () => import('./pages/subscription.js')],
  ['/subscriptions/:id/edit', () => import('./pages/subscription-edit.js')],
  ['/replays', () => import('./pages/replays.js')],
  ['/replays/:id', () => import('./pages/replay.js')],
  ['/keys', () => import('./pages/keys.js')],
  ['/audit', () => import('./pages/audit.js')],
  ['/settings', () => import('./pages/settings.js')],
  ['/cluster', () => import('./pages/cluster.js')],
];

const NAVIGATION = [
  { title: 'Deliveries', links: [['/', 'Overview'], ['/endpoints', 'Endpoints'], ['/messages', 'Messages'], ['/events', 'Events'], ['/subscriptions', 'Subscriptions'], ['/replays', 'Replays']] },
  { title: 'Server', links: [['/keys', 'Keys', 'administer'], ['/audit', 'Audit', 'administer'], ['/settings', 'Settings', 'look-at-server'], ['/cluster', 'Cluster', 'look-at-server']] },
];

const TENANT = /^[a-z0-9_-]{1,64}$/;

// A link with a key signs in by itself. The key leaves the address, and so the history, before anything else happens.
function takeLinkedKey() {
  if (location.pathname !== '/sign-in' || !location.hash.startsWith('#key=')) {
    return null;
  }
  const key = location.hash.slice(5);
  history.replaceState(null, '', location.pathname + location.search);
  return key;
}

let linkedKey = takeLinkedKey();

function App() {
  const [started, setStarted] = useState(false);
  const [problem, setProblem] = useState(null);
  const [refusal, setRefusal] = useState(null);
  const signedIn = useSession();
  const { path, query } = useRoute();
  const start = async () => {
    setProblem(null);
    if (linkedKey !== null) {
      const key = linkedKey;
      linkedKey = null;
      try {
        await signIn(key);
        setStarted(true);
        return;
      } catch (error) {
        setRefusal(error);
      }
    }
    try {
      await resume();
      setStarted(true);
    } catch {
      setProblem({ title: 'The server cannot be reached', detail: 'See that the server runs and that this machine reaches it.' });
    }
  };
  useEffect(() => {
    start();
    const linked = () => {
      linkedKey = takeLinkedKey();
      if (linkedKey !== null) {
        start();
      }
    };
    addEventListener('hashchange', linked);
    return () => removeEventListener('hashchange', linked);
  }, []);
  useEffect(() => {
    if (started && signedIn === null && path !== '/sign-in') {
      const from = location.pathname + location.search;
      navigate(from === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(from)}`, { replace: true });
    } else if (started && signedIn !== null && path === '/sign-in') {
      const to = query.get('to') || '/';
      navigate(to.startsWith('/') && !to.startsWith('//') ? to : '/', { replace: true });
    }
  }, [started, signedIn, path]);
  if (problem !== null) {
    return html`<main class="boot"><h1>Holdfast</h1><${ErrorBox} error=${problem} retry=${start} /></main>`;
  }
  if (!started) {
    return html`<main class="boot"><${Loading} rows=${3} label="Holdfast is loading" /></main>`;
  }
  if (signedIn === null || path === '/sign-in') {
    return html`<${Lazy} key=${refusal === null ? 'sign-in' : 'refused'} load=${() => import('./pages/sign-in.js')} props=${{ refusal }} /><${Notices} />`;
  }
  return html`<${Shell} path=${path} /><${Notices} />`;
}

function Shell({ path }) {
  const [menu, setMenu] = useState(false);
  const button = useRef(null);
  useEffect(() => setMenu(false), [path]);
  const found = match(ROUTES, path);
  const onKey = (event) => {
    if (event.key === 'Escape' && menu) {
      setMenu(false);
      button.current.focus();
    }
  };
  return html`<a class="skip" href="#main">Skip to the content</a>
  <div class="shell ${menu ? 'menu-open' : ''}" onKeyDown=${onKey}>
    <header class="side">
      <div class="side-top">
        <a class="brand" href="/"><${Mark} /><span>Holdfast</span></a>
        <span class="side-live"><${LiveState} /></span>
        <button type="button" ref=${button} class="menu-button" aria-expanded=${menu ? 'true' : 'false'} aria-controls="menu" onClick=${() => setMenu(!menu)}>Menu</button>
      </div>
      <div class="side-menu" id="menu">
        <${TenantChooser} />
        <nav aria-label="Main">${NAVIGATION.map((group) => html`<${NavigationGroup} key=${group.title} group=${group} path=${path} />`)}</nav>
        <${Account} />
      </div>
    </header>
    <main id="main" tabindex="-1">
      <${Banners} />
      ${found === null
        ? html`<${PageHeader} title="There is no such page" /><${Empty} title="Nothing is at this address."><a href="/">Go to the overview</a><//>`
        : html`<${Guard} key=${`${path} ${tenant()} ${session().csrf}`}><${Lazy} load=${found.route[1]} props=${{ params: found.params }} /><//>`}
    </main>
  </div>`;
}

function NavigationGroup({ group, path }) {
  const links = group.links.filter(([, , needs]) => needs === undefined || may(needs));
  if (links.length === 0) {
    return null;
  }
  return html`<p class="side-title" id="nav-${group.title}">${group.title}</p><ul aria-labelledby="nav-${group.title}">${links.map(([href, text]) => {
    const within = href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
    return html`<li key=${href}><a href=${href} aria-current=${path === href ? 'page' : within ? 'true' : undefined}>${text}</a></li>`;
  })}</ul>`;
}

/** A cleat, which a rope is made fast to. */
function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"><path d="M4 10.500h24M12 10.500v10.500M20 10.500v10.500M8 26l4-5h8l4 5" /></svg>`;
}

function LiveState() {
  const state = useLiveState();
  return html`<span class="live live-${state}" role="status"><${Shape} name=${state} /> ${{ live: 'Live', connecting: 'Connecting', refused: 'Not live' }[state] || 'Not connected'}</span>`;
}

function Banners() {
  const state = useLiveState();
  return html`${speed() > 1 && html`<p class="demo">Demo: ${number(speed() / 60)} minutes pass in a second. Ages, gaps and countdowns are shown as they would be without that.</p>`}
    ${state === 'disconnected' && html`<${Note} kind="bad"><strong>The server is not heard.</strong> What you see may be old. This page tries again by itself; see that the server runs.<//>`}
    ${state === 'refused' && html`<${Refused} />`}`;
}

function Refused() {
  const { refusal } = useLive();
  return refusal && html`<${Note} kind="warn"><strong>The server gives no live figures: it answered ${refusal.status}.</strong> ${refusal.detail} Lists are still loaded again every few seconds, and this page asks for the figures again by itself.<//>`;
}

/** Keeps a mistake in a page from taking the rest down, and says what to do about it. */
class Guard extends Component {
  componentDidCatch(error) {
    console.error(error);
    this.setState({ error });
  }

  render({ children }, { error }) {
    if (!error) {
      return children;
    }
    const again = () => this.setState({ error: null });
    return html`<${PageHeader} title="This page broke" />
      <${ErrorBox} error=${{ title: 'The page made a mistake', detail: `Deliveries are not touched by it. Load the page again; if it breaks again, report it with this text: ${error.message || error}` }} />
      <p class="row"><${Button} kind="primary" onClick=${() => location.reload()}>Load the page again<//><${Button} onClick=${again}>Try without loading<//></p>`;
  }
}

function TenantChooser() {
  const current = session();
  const [asking, setAsking] = useState(false);
  const [name, setName] = useState('');
  const [names, setNames] = useState(knownTenants());
  useEffect(() => {
    if (current.tenant === null && may('administer')) {
      get('/v1/keys', { limit: 1000 }, { wide: true })
        .then((list) => setNames([...new Set([...knownTenants(), ...list.items.map((key) => key.tenant).filter(Boolean)])]))
        .catch(() => {});
    }
  }, []);
  if (current.tenant !== null) {
    return html`<p class="tenant"><span class="side-title">Tenant</span><b>${current.tenant}</b></p>`;
  }
  const error = name !== '' && !TENANT.test(name) ? 'Write at most 64 of a to z, 0 to 9, - and _.' : '';
  const choose = (chosen) => {
    chooseTenant(chosen);
    setNames((old) => [...new Set([...old, chosen])]);
    setAsking(false);
    setName('');
  };
  return html`<div class="tenant">
    <label class="side-title" for="tenant">Tenant</label>
    <select id="tenant" value=${tenant()} onChange=${(event) => {
      if (event.target.value === '') {
        event.target.value = tenant();
        setAsking(true);
      } else {
        choose(event.target.value);
      }
    }}>${names.map((one) => html`<option key=${one} value=${one} selected=${one === tenant()}>${one}</option>`)}<option value="">Another…</option></select>
    <${Confirm} open=${asking} title="Look at another tenant" action="Look at it" onCancel=${() => setAsking(false)} onConfirm=${() => TENANT.test(name) && choose(name)}>
      <${TextField} label="Name of the tenant" value=${name} onInput=${setName} mono error=${error} hint="Your key is for all tenants. A name that nobody has used is an empty tenant." autofocus />
    <//>
  </div>`;
}

function Account() {
  const current = session();
  const [busy, setBusy] = useState(false);
  const leave = async () => {
    if (busy) {
      return;
    }
    setBusy(true);
    try {
      await signOut();
    } catch (error) {
      notify(`${error.title}. ${error.detail}`, 'bad');
    }
    setBusy(false);
  };
  return html`<div class="account">
    <p><span class="side-title">Signed in as</span><b>${current.role}</b>${current.key ? html` <code>${current.key}</code>` : html` <span>by the fixed admin key</span>`}</p>
    <div class="account-row"><${Button} small kind="side" onClick=${leave} busy=${busy}>Sign out<//><span class="version">${current.version}</span></div>
  </div>`;
}

/** A page, loaded when it is first looked at. After a change of page its heading is focused, so that it is read out. */
function Lazy({ load, props }) {
  const [page, setPage] = useState(null);
  const [error, setError] = useState(null);
  const open = () => {
    setError(null);
    load().then((module) => setPage(() => module.default), () => setError({ title: 'The page could not be loaded', detail: 'See that the server runs, then load the page again.' }));
  };
  useEffect(open, []);
  useEffect(() => {
    if (page !== null && visited++ > 0) {
      scrollTo(0, 0);
      const heading = document.querySelector('main h1');
      if (heading !== null) {
        heading.focus({ preventScroll: true });
      }
    }
  }, [page]);
  if (error !== null) {
    return html`<h1>Holdfast</h1><${ErrorBox} error=${error} retry=${() => location.reload()} />`;
  }
  return page === null ? html`<${Loading} rows=${6} />` : html`<${page} ...${props} />`;
}

let visited = 0;
let followed = '';
let signedInBefore = null;

onSession((current) => {
  const before = signedInBefore;
  signedInBefore = current;
  if (before !== null && current !== null && before.csrf !== current.csrf) {
    notify(`Another tab has signed in, as ${current.role}. You now see what that key may see; nothing was changed.`, 'warn');
  }
  const wanted = current === null ? '' : `${current.csrf} ${tenant()}`;
  if (wanted === followed) {
    return;
  }
  followed = wanted;
  if (current === null) {
    stopLive();
  } else {
    startLive();
  }
});

const root = document.getElementById('app');
root.textContent = '';
render(html`<${App} />`, root);
