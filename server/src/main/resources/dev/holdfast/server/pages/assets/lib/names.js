// The URLs of endpoints by their ids: messages name only the id, and people know the URL.
//
//   const url = useUrls(items.map((one) => one.endpoint));   url('ep_…') its URL without the scheme, or undefined while it is not known
//   remember(endpoints)                                      keeps what a page has learned anyway
import { useState, useEffect } from './html.js';
import { get } from './api.js';
import { tenant } from './session.js';
import { host } from './format.js';

const AT_ONCE = 100;
const KEPT = 5000;
const MISSED_MILLIS = 60_000;

// The URL by id, those known longest first. What the server does not know is there too, with the time until which it is not asked again.
let known = new Map();
let knownOf = null;
let last = Promise.resolve();

export function useUrls(ids) {
  const [, draw] = useState(0);
  const key = [...new Set(ids)].join();
  useEffect(() => {
    let here = true;
    learn(key === '' ? [] : key.split(',')).then((any) => here && any && draw((n) => n + 1));
    return () => {
      here = false;
    };
  }, [key, tenant()]);
  return (id) => known.get(id)?.url;
}

/** Keeps what a page has learned anyway. */
export function remember(endpoints) {
  forget();
  endpoints.forEach((one) => keep(one.id, { url: host(one.url) }));
}

function keep(id, entry) {
  known.delete(id);
  known.set(id, entry);
  if (known.size > KEPT) {
    known.delete(known.keys().next().value);
  }
}

function forget() {
  if (knownOf !== tenant()) {
    known = new Map();
    knownOf = tenant();
  }
}

// One after the other, so that two parts of a page do not ask for the same. Whether anything was asked for.
function learn(ids) {
  last = last.then(() => ask(ids)).catch(() => true);
  return last;
}

async function ask(ids) {
  forget();
  const mine = known;
  const missing = ids.filter((id) => id && !(known.get(id)?.url || known.get(id)?.until > Date.now()));
  for (let from = 0; from < missing.length; from += AT_ONCE) {
    const some = missing.slice(from, from + AT_ONCE);
    const answer = await get('/v1/endpoints/recent', { ids: some });
    if (mine !== known) {
      return false;
    }
    const urls = new Map(answer.items.map((item) => [item.endpoint, item.url]));
    some.forEach((id) => keep(id, urls.get(id) ? { url: host(urls.get(id)) } : { until: Date.now() + MISSED_MILLIS }));
  }
  return true;
}
