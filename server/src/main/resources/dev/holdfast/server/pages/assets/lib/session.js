// Who is signed in, which tenant is looked at, and what may be done.
//
//   session()                   the document of /v1/session, or null
//   useSession()                the same in a component, drawn again when it changes
//   may('manage')               whether a button should be there: look, look-at-server, manage, publish, administer
//   speed()                     how many times faster than usual the rules run (1; 1440 in the demo)
//   tenant(), chooseTenant(name)  the tenant that calls are for; only a key for all tenants can choose
//   signIn(key), signOut(), resume()   used by app.js and the page sign-in
//   check()                     asks whether the session is still this one: all tabs share one cookie, and another may have signed in with another key.
//                               True when it was not, and the pages start anew. Done by itself when a tab is looked at and when another one signs in or out.
import { useState, useEffect } from './html.js';

const TENANT = 'holdfast.tenant';
const TENANTS = 'holdfast.tenants';
const BEGUN = 'holdfast.signed-in';

let current = null;
// The choice is the tab's own; a new tab begins with the last one that was made.
let chosen = remembered(TENANT, 'sessionStorage') || remembered(TENANT) || 'default';
const listeners = new Set();

export function session() {
  return current;
}

export function useSession() {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return current;
}

export function onSession(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function may(what) {
  return current !== null && current.may.includes(what);
}

export function speed() {
  return current === null ? 1 : current.speed || 1;
}

/** The tenant that is looked at: the key's own, or the chosen one. */
export function tenant() {
  return current !== null && current.tenant !== null ? current.tenant : chosen;
}

/** What calls send as Holdfast-Tenant; null when the key says it all. */
export function tenantHeader() {
  return current !== null && current.tenant === null ? chosen : null;
}

/** Names that were chosen here before, for the chooser. */
export function knownTenants() {
  const names = (remembered(TENANTS) || '').split(' ').filter((name) => name !== '');
  return [...new Set(['default', chosen, ...names])];
}

export function chooseTenant(name) {
  chosen = name;
  remember(TENANT, name, 'sessionStorage');
  remember(TENANT, name);
  remember(TENANTS, knownTenants().slice(0, 50).join(' '));
  tell();
}

/** Asks the server whether the cookie still opens a session. False when not; throws when it cannot be asked. */
export async function resume() {
  if (!mayBeSignedIn()) {
    return false;
  }
  const response = await fetch('/v1/session', { headers: { accept: 'application/json' } });
  if (response.status === 401) {
    set(null);
    return false;
  }
  if (!response.ok) {
    throw new Error(`The server answered ${response.status}.`);
  }
  set(await response.json());
  return true;
}

/** Begins a session. Throws a Problem-like object {status, detail} when the key is not taken. */
export async function signIn(key) {
  let response;
  try {
    response = await fetch('/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ key }),
    });
  } catch {
    throw { status: 0, detail: 'The server cannot be reached. See that it runs, then try again.' };
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw { status: response.status, detail: body.detail || body.title || '', retryAfter: response.headers.get('retry-after') };
  }
  set(body);
}

/** Ends the session on the server and here. Throws {title, detail} when the server has not ended it: then it goes on. */
export async function signOut() {
  const csrf = current === null ? '' : current.csrf;
  let response;
  try {
    response = await fetch('/v1/session', { method: 'DELETE', headers: { accept: 'application/json', 'holdfast-csrf': csrf } });
  } catch {
    throw { title: 'You are still signed in', detail: 'The server cannot be reached, so the session could not be ended. Try again when it runs.' };
  }
  if ([204, 401, 404].includes(response.status)) {
    set(null);
    return;
  }
  const changed = response.status === 403 && await check();
  throw { title: 'You are still signed in', detail: changed ? 'Another tab has signed in with another key. Sign out again to end that session.' : `The server answered ${response.status}. Try again; if it stays so, look at the server’s log.` };
}

export async function check() {
  const before = current;
  if (before === null) {
    return false;
  }
  let found;
  try {
    const response = await fetch('/v1/session', { headers: { accept: 'application/json' } });
    if (!response.ok && response.status !== 401) {
      return false;
    }
    found = response.ok ? await response.json() : null;
  } catch {
    return false;
  }
  if (current !== before || (found !== null && found.csrf === before.csrf)) {
    return false;
  }
  current = found;
  tell();
  return true;
}

/** The server no longer knows the session. */
export function ended() {
  if (current !== null) {
    set(null);
  }
}

// The cookie cannot be seen from here. Without this mark everybody who comes to sign in would see an error on the console.
function mayBeSignedIn() {
  try {
    return localStorage.getItem(BEGUN) !== null;
  } catch {
    return true;
  }
}

function set(document) {
  current = document;
  // Other tabs hear when this changes. A session that was only found again is no change.
  remember(BEGUN, document === null ? null : document.expiresAt);
  tell();
}

function tell() {
  for (const listener of [...listeners]) {
    listener(current);
  }
}

// The browser may refuse storage; then a choice lasts as long as the page.
function remembered(name, where = 'localStorage') {
  try {
    return window[where].getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value, where = 'localStorage') {
  try {
    if (value === null) {
      window[where].removeItem(name);
    } else {
      window[where].setItem(name, value);
    }
  } catch {
    // Nothing is lost but the memory of a choice.
  }
}

addEventListener('storage', (event) => {
  if (event.key === BEGUN && current !== null) {
    if (event.newValue === null) {
      current = null;
      tell();
    } else {
      check();
    }
  }
});

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') {
    check();
  }
});
