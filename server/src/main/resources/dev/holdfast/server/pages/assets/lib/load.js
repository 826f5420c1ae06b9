// Hooks that load from the API and keep what is on the screen while they load again.
//
//   const load = useLoad(() => get('/v1/replays/' + id), [id], { every: 5000 });
//     load.data      what came last; undefined before
//     load.error     the Problem of the last try, or null (data of an earlier one stays)
//     load.loading   true until the first answer        load.refreshing   true while anything is under way
//     load.reload()  loads again; what is shown stays    load.set(data)    puts an answer in, such as that of a POST
//   `every` loads again each so many milliseconds while the page is visible. When `deps` change, old data goes.
//   `keep: true` keeps the old data on the screen when deps change (filters of a list).
//
//   const list = usePages((cursor) => get('/v1/messages', { ...filters, cursor, limit: 50 }), [filters…], { every: 5000 });
//     list.items (undefined before), .next, .more() loads the next page, .loadingMore; and error, loading, refreshing, reload as above
//   A call looks at so many rows only, and a page can be empty though there are more: a few of those are passed over. Where `items` is empty
//   and `next` is not, say so and offer more (More of table.js does).
//   Loading again loads as many pages as are shown (at most 10), so that the place is kept.
//
//   const { run, busy, error } = useAction(async (argument) => { await post(…); notify('…'); });   for buttons: one at a time
import { useState, useEffect, useRef, useCallback } from './html.js';
import { tenant } from './session.js';

const MOST_PAGES = 10;
const MOST_EMPTY_PAGES = 5;

export function useLoad(call, deps = [], { every = 0, keep = false, when = true } = {}) {
  const [state, setState] = useState({ data: undefined, error: null, refreshing: when });
  const newest = useRef(call);
  newest.current = call;
  const turn = useRef(0);
  const load = useCallback(async () => {
    const mine = ++turn.current;
    setState((old) => ({ ...old, refreshing: true }));
    try {
      const data = await newest.current();
      if (mine === turn.current) {
        setState({ data, error: null, refreshing: false });
      }
    } catch (error) {
      if (mine === turn.current && error.name !== 'AbortError') {
        setState((old) => ({ ...old, error, refreshing: false }));
      }
    }
  }, []);
  useEffect(() => {
    setState((old) => ({ data: keep ? old.data : undefined, error: null, refreshing: when }));
    if (when) {
      load();
    }
    return () => {
      turn.current++;
    };
  }, [...deps, tenant(), when]);
  useEvery(load, when ? every : 0);
  const set = useCallback((data) => {
    turn.current++;
    setState({ data, error: null, refreshing: false });
  }, []);
  return { ...state, loading: state.data === undefined && state.error === null, reload: load, set };
}

export function usePages(call, deps = [], options = {}) {
  const pages = useRef(1);
  const [loadingMore, setLoadingMore] = useState(false);
  const all = async () => {
    let items = [];
    let cursor;
    for (let page = 0; page < pages.current; page++) {
      const answer = await filled(call, cursor);
      items = items.concat(answer.items);
      cursor = answer.next;
      if (!cursor) {
        break;
      }
    }
    return { items, next: cursor || null };
  };
  const before = useRef(null);
  const key = JSON.stringify([...deps, tenant()]);
  if (before.current !== key) {
    before.current = key;
    pages.current = 1;
  }
  const load = useLoad(all, deps, { keep: true, ...options });
  const { data } = load;
  const more = async () => {
    if (!data || !data.next || loadingMore) {
      return;
    }
    setLoadingMore(true);
    try {
      const answer = await filled(call, data.next);
      // Past the most pages only the list grows, and what is loaded again is its beginning.
      pages.current = Math.min(pages.current + 1, MOST_PAGES);
      load.set({ items: data.items.concat(answer.items), next: answer.next });
    } catch {
      load.reload();
    } finally {
      setLoadingMore(false);
    }
  };
  return { ...load, items: data && data.items, next: data ? data.next : null, more, loadingMore };
}

async function filled(call, cursor) {
  let answer = await call(cursor);
  for (let empty = 1; answer.items.length === 0 && answer.next && empty < MOST_EMPTY_PAGES; empty++) {
    answer = await call(answer.next);
  }
  return answer;
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

function useEvery(load, every) {
  useEffect(() => {
    if (every === 0) {
      return undefined;
    }
    const again = () => {
      if (document.visibilityState === 'visible') {
        load();
      }
    };
    const timer = setInterval(again, every);
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [every]);
}
