// The URLs of endpoints by their ids: messages name only the id, and people know the URL.
//
//   const url = useUrls(items.map((one) => one.endpoint));   url('ep_…') its URL without the scheme, or undefined while it is not known
import { useState, useEffect } from './html.js';
import { get } from './api.js';
import { tenant } from './session.js';
import { host } from './format.js';

const AT_ONCE = 40;
const KEPT = 5000;

let known = new Map();
let knownOf = null;
let listed = null;

export function useUrls(ids) {
  const [, draw] = useState(0);
  const key = [...new Set(ids)].join();
  useEffect(() => {
    let here = true;
    learn(key === '' ? [] : key.split(',')).then(() => here && draw((n) => n + 1));
    return () => {
      here = false;
    };
  }, [key, tenant()]);
  return (id) => known.get(id);
}

/** Keeps what a page has learned anyway. */
export function remember(endpoints) {
  forget();
  for (const one of endpoints) {
    if (known.size < KEPT) {
      known.set(one.id, host(one.url));
    }
  }
}

function forget() {
  if (knownOf !== tenant()) {
    known = new Map();
    knownOf = tenant();
    listed = null;
  }
}

// Most tenants have few endpoints: one list says it all. What is not in it is asked for one by one, within a limit.
async function learn(ids) {
  forget();
  if (ids.every((id) => known.has(id))) {
    return;
  }
  try {
    listed ??= get('/v1/endpoints', { limit: 200 });
    remember((await listed).items);
    const missing = ids.filter((id) => id && !known.has(id)).slice(0, AT_ONCE);
    remember((await Promise.all(missing.map((id) => get(`/v1/endpoints/${encodeURIComponent(id)}`).catch(() => null)))).filter((one) => one));
  } catch {
    // The ids are shown instead.
    listed = null;
  }
}
