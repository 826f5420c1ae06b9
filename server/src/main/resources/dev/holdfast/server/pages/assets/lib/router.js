// Addresses and pages. Links are plain <a href="/endpoints/…">: clicks on them are taken over here.
//
//   navigate('/messages?status=parked'), navigate(path, { replace: true })
//   useRoute()                        { path, query: URLSearchParams }
//   const [filters, setFilters] = useQuery({ state: '', q: '', sort: 'newest' });
//        The values of these query parameters, with what stands for absence. setFilters({ q: 'x' }) changes the address, so that a
//        filtered list can be linked to; it replaces the entry of the history unless { push: true } is given as second argument.
//   match(routes, path)               the route ['/endpoints/:id', …] of a path, and its params
import { useState, useEffect } from './html.js';

const listeners = new Set();

export function navigate(path, { replace = false } = {}) {
  if (replace) {
    history.replaceState(null, '', path);
  } else {
    history.pushState(null, '', path);
  }
  tell();
}

export function useRoute() {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function useQuery(defaults) {
  const { query } = useRoute();
  const values = {};
  for (const [name, absent] of Object.entries(defaults)) {
    values[name] = query.get(name) ?? absent;
  }
  const set = (changes, { push = false } = {}) => {
    const next = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === defaults[name]) {
        next.delete(name);
      } else {
        next.set(name, value);
      }
    }
    const text = next.toString();
    navigate(location.pathname + (text === '' ? '' : `?${text}`), { replace: !push });
  };
  return [values, set];
}

export function match(routes, path) {
  const given = path.split('/');
  for (const route of routes) {
    const wanted = route[0].split('/');
    if (wanted.length !== given.length) {
      continue;
    }
    const params = {};
    const fits = wanted.every((part, i) => {
      if (part.startsWith(':') && given[i] !== '') {
        params[part.slice(1)] = decoded(given[i]);
        return true;
      }
      return part === given[i];
    });
    if (fits) {
      return { route, params };
    }
  }
  return null;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function tell() {
  for (const listener of [...listeners]) {
    listener();
  }
}

addEventListener('popstate', tell);

addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !plain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download')) {
    return;
  }
  const url = new URL(link.href);
  const ours = url.origin === location.origin && !/^\/(v1|assets|openapi|metrics|health)/.test(url.pathname);
  const here = url.pathname === location.pathname && url.search === location.search && url.hash !== '';
  if (ours && !here) {
    event.preventDefault();
    navigate(url.pathname + url.search);
  }
});
