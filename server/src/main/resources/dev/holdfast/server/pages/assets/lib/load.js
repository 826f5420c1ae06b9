// Hooks that load from the API and keep what is on the screen while they load again.
//
//   const load = useLoad(() => get('/v1/replays/' + id), [id], { every: 5000 });
//     load.data      what came last; undefined before
//     load.error     the Problem of the last try, or null (data of an earlier one stays)
//     load.loading   true until the first answer        load.refreshing   true while anything is under way
//     load.at        when the data came (milliseconds of the server's time), or null
//     load.reload()  loads again; what is shown stays    load.set(data)    puts an answer in, such as that of a POST
//   `every` loads again so many milliseconds after the last answer while the page is visible. When `deps` change, old data goes.
//   `keep: true` keeps the old data on the screen when deps change (filters of a list).
//   One load is under way at a time: what is asked for meanwhile is loaded once, afterwards. What nobody waits for any more is aborted; the call
//   gets the AbortSignal as its last argument, which it needs only after its first await (see during() in api.js).
//
//   const list = usePages((cursor) => get('/v1/messages', { ...filters, cursor, limit: 50 }), [filters…], { every: 5000 });
//     list.items (undefined before), .next, .more() loads the next page, .loadingMore; and error, loading, refreshing, reload as above
//     list.deep      more than the first answer is shown: it is not loaded again by itself, which would be costly and move what is read
//     list.again()   begins again with the first page (More of table.js offers it)
//   A call looks at so many rows only, and a page can be empty though there are more: a few of those are passed over. Where `items` is empty
//   and `next` is not, say so and offer more (More of table.js does). What is on two pages, because it moved, is shown once.
//   reload() loads as many pages as are shown (at most 10), so that the place is kept.
//
//   await gather((cursor) => get(…), { most: 500, signal })    items of a few pages as { items, next }: next is not null where only a part was looked at
//
//   const { run, busy, error } = useAction(async (argument) => { await post(…); notify('…'); });   for buttons: one at a time
import { useState, useEffect, useRef, useCallback } from './html.js';
import { during } from './api.js';
import { now } from './clock.js';
import { tenant } from './session.js';

const MOST_PAGES = 10;
const MOST_EMPTY_PAGES = 5;
const MOST_GATHERED = 5;
const LOOK_MILLIS = 1000;

export function useLoad(call, deps = [], { every = 0, keep = false, when = true } = {}) {
  const [state, setState] = useState({ data: undefined, error: null, refreshing: when, at: null });
  const newest = useRef(call);
  newest.current = call;
  // What is under way (its AbortController, or null), whether it is to be done again, and when the last one ended.
  const job = useRef({ abort: null, again: false, ended: 0 }).current;
  const load = useCallback(async () => {
    if (job.abort !== null) {
      job.again = true;
      return;
    }
    const abort = new AbortController();
    job.abort = abort;
    setState((old) => ({ ...old, refreshing: true }));
    try {
      const data = await during(abort.signal, () => newest.current(abort.signal));
      if (job.abort === abort) {
        setState({ data, error: null, refreshing: false, at: now() });
      }
    } catch (error) {
      if (job.abort === abort) {
        setState((old) => ({ ...old, error, refreshing: false }));
      }
    }
    if (job.abort === abort) {
      finish();
    }
  }, []);
  const finish = () => {
    const { again } = job;
    Object.assign(job, { abort: null, again: false, ended: performance.now() });
    if (again) {
      load();
    }
  };
  const cancel = () => {
    if (job.abort !== null) {
      job.abort.abort();
    }
    Object.assign(job, { abort: null, again: false, ended: performance.now() });
  };
  useEffect(() => {
    setState((old) => ({ data: keep ? old.data : undefined, error: null, refreshing: when, at: keep ? old.at : null }));
    if (when) {
      load();
    }
    return cancel;
  }, [...deps, tenant(), when]);
  useEvery(load, when ? every : 0, job);
  const set = useCallback((data) => {
    cancel();
    setState({ data, error: null, refreshing: false, at: now() });
  }, []);
  return { ...state, loading: state.data === undefined && state.error === null, reload: load, set };
}

export function usePages(call, deps = [], { every = 0, ...options } = {}) {
  const pages = useRef(1);
  const [extra, setExtra] = useState({ loading: false, error: null });
  const before = useRef(null);
  const key = JSON.stringify([...deps, tenant()]);
  if (before.current !== key) {
    before.current = key;
    pages.current = 1;
  }
  const all = async (signal) => {
    let items = [];
    let cursor;
    let calls = 0;
    for (let page = 0; page < pages.current; page++) {
      const answer = await filled(call, cursor, signal);
      items = joined(items, answer.items);
      cursor = answer.next;
      calls += answer.calls;
      if (!cursor) {
        break;
      }
    }
    return { items, next: cursor || null, deep: calls > 1 };
  };
  const deep = useRef(false);
  const load = useLoad(all, deps, { keep: true, ...options, every: deep.current || extra.loading ? 0 : every });
  const { data } = load;
  deep.current = Boolean(data && data.deep);
  // A request for more ends with what it was for.
  const asked = useRef(null);
  useEffect(() => () => {
    if (asked.current !== null) {
      asked.current.abort();
      asked.current = null;
      setExtra({ loading: false, error: null });
    }
  }, [key]);
  const more = async () => {
    if (!data || !data.next || asked.current !== null) {
      return;
    }
    const abort = new AbortController();
    asked.current = abort;
    setExtra({ loading: true, error: null });
    let error = null;
    try {
      const answer = await filled(call, data.next, abort.signal);
      if (asked.current === abort) {
        // Past the most pages only the list grows, and what is loaded again is its beginning.
        pages.current = Math.min(pages.current + 1, MOST_PAGES);
        load.set({ items: joined(data.items, answer.items), next: answer.next || null, deep: true });
      }
    } catch (problem) {
      error = problem;
    }
    if (asked.current === abort) {
      asked.current = null;
      setExtra({ loading: false, error });
    }
  };
  const reload = () => {
    setExtra((old) => ({ ...old, error: null }));
    load.reload();
  };
  const again = () => {
    pages.current = 1;
    reload();
  };
  return {
    ...load, error: extra.error || load.error, items: data && data.items, next: data ? data.next : null, deep: deep.current, more, loadingMore: extra.loading, reload, again,
  };
}

async function filled(call, cursor, signal) {
  let answer = await during(signal, () => call(cursor, signal));
  let calls = 1;
  for (; answer.items.length === 0 && answer.next && calls < MOST_EMPTY_PAGES; calls++) {
    const { next } = answer;
    answer = await during(signal, () => call(next, signal));
  }
  return { items: answer.items, next: answer.next, calls };
}

/** A list that is sorted by what changes gives the same thing on two pages. */
function joined(items, others) {
  const name = (item) => item.id ?? item.hash;
  const there = new Set(items.map(name));
  return items.concat(others.filter((item) => name(item) === undefined || !there.has(name(item))));
}

export async function gather(call, { most, calls = MOST_GATHERED, signal } = {}) {
  let items = [];
  let cursor;
  for (let n = 0; n < calls; n++) {
    const from = cursor;
    const answer = await during(signal, () => call(from, signal));
    items = items.concat(answer.items);
    cursor = answer.next || null;
    if (cursor === null || items.length >= most) {
      break;
    }
  }
  return { items: items.slice(0, most), next: cursor };
}

export function useAction(action) {
  const [state, setState] = useState({ busy: false, error: null });
  const run = async (argument) => {
    if (state.busy) {
      return undefined;
    }
    setState({ busy: true, error: null });
    try {
      const result = await action(argument);
      setState({ busy: false, error: null });
      return result;
    } catch (error) {
      setState({ busy: false, error });
      return undefined;
    }
  };
  return { ...state, run, clear: () => setState({ busy: false, error: null }) };
}

/** Loads again so long after the last load ended, however long it took. */
function useEvery(load, every, job) {
  useEffect(() => {
    if (every === 0) {
      return undefined;
    }
    const look = () => {
      if (document.visibilityState === 'visible' && job.abort === null && performance.now() - job.ended >= every) {
        load();
      }
    };
    const timer = setInterval(look, Math.min(every, LOOK_MILLIS));
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [every]);
}
