// The server's stream /v1/live, kept open while somebody is signed in and looks: a browser has few connections to a server, and a server few
// readers, so a tab that is hidden lets go of it.
//
//   const live = useLive();    { state, now, history, changes, refusal }
//     live.state     'live' | 'connecting' | 'disconnected' (nothing is heard) | 'refused' (the server answers, but gives no stream)
//     live.now       the newest `now` (see /v1/live), or null
//     live.history   those of the last two minutes, oldest first
//     live.changes   changes of state since the page was opened, newest first (at most 50)
//     live.refusal   { status, title, detail } while refused, else null
//   useLiveState()             only the state; drawn again only when that changes
//   useChanges((changes) => …, wanted)   called with changes of endpoints' states, as long as the component is there: at once, then at most every two
//                              seconds with all that came since; `wanted` tells which changes count. Each is told again two ticks later, since the
//                              server tells a change a moment before its lists have it
//
// The stream is read with fetch and not with EventSource, which cannot say for which tenant it asks.
import { useState, useEffect, useRef } from './html.js';
import { callHeaders } from './api.js';
import { ended } from './session.js';
import { learn } from './clock.js';

const HISTORY_SECONDS = 125;
const CHANGES = 50;
const SILENCE_MILLIS = 20_000;
const LONGEST_WAIT_MILLIS = 15_000;
const LONGEST_REFUSED_MILLIS = 60_000;
const TICKS_UNTIL_WRITTEN = 2;
const TOGETHER_MILLIS = 2000;
const HIDDEN_MILLIS = 3000;

const NOTHING = { state: 'connecting', now: null, history: [], changes: [], refusal: null };

let live = NOTHING;
let running = null;
let wanted = false;
let hidden = 0;
let fresh = [];
const listeners = new Set();
const changeListeners = new Set();

export function useLive() {
  const [value, setValue] = useState(live);
  useEffect(() => listen(setValue), []);
  return value;
}

export function useLiveState() {
  const [state, setState] = useState(live.state);
  useEffect(() => listen((value) => setState(value.state)), []);
  return state;
}

export function useChanges(onChanges, counts = () => true) {
  const newest = useRef(onChanges);
  newest.current = onChanges;
  useEffect(() => {
    let waiting = [];
    let timer = 0;
    const flush = () => {
      timer = 0;
      if (waiting.length > 0) {
        const changes = waiting;
        waiting = [];
        timer = setTimeout(flush, TOGETHER_MILLIS);
        newest.current(changes);
      }
    };
    const listener = (change) => {
      if (counts(change)) {
        waiting = [...waiting, change].slice(-CHANGES);
        if (timer === 0) {
          flush();
        }
      }
    };
    changeListeners.add(listener);
    return () => {
      clearTimeout(timer);
      changeListeners.delete(listener);
    };
  }, []);
}

/** Opens the stream, anew when it is open: who looks, or at which tenant, has changed. */
export function startLive() {
  stopLive();
  wanted = true;
  fresh = [];
  set(NOTHING);
  if (document.visibilityState === 'visible') {
    begin();
  }
}

export function stopLive() {
  wanted = false;
  end();
}

function begin() {
  const mine = { stopped: false, abort: null };
  running = mine;
  follow(mine);
}

function end() {
  if (running !== null) {
    running.stopped = true;
    if (running.abort !== null) {
      running.abort.abort();
    }
    running = null;
  }
}

// A short look at another tab does not end the stream.
document.addEventListener('visibilitychange', () => {
  clearTimeout(hidden);
  if (document.visibilityState !== 'visible') {
    hidden = setTimeout(end, HIDDEN_MILLIS);
  } else if (wanted && running === null) {
    set({ state: 'connecting', refusal: null });
    begin();
  }
});

function listen(listener) {
  listeners.add(listener);
  listener(live);
  return () => listeners.delete(listener);
}

function set(change) {
  live = { ...live, ...change };
  for (const listener of [...listeners]) {
    listener(live);
  }
}

async function follow(mine) {
  let wait = 1000;
  while (!mine.stopped) {
    const { opened, refusal } = await read(mine);
    if (mine.stopped) {
      return;
    }
    set({ state: refusal === null ? 'disconnected' : 'refused', refusal });
    wait = opened ? 1000 : Math.min(wait * 2, LONGEST_WAIT_MILLIS);
    const asked = refusal === null ? 0 : Math.min(refusal.retryAfter * 1000, LONGEST_REFUSED_MILLIS);
    await new Promise((resolve) => setTimeout(resolve, Math.max(wait, asked)));
  }
}

/** Reads one stream to its end: whether anything came, and what the server said if it gave none. */
async function read(mine) {
  mine.abort = new AbortController();
  let silence;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => mine.abort.abort(), SILENCE_MILLIS);
  };
  let any = false;
  try {
    heard();
    const response = await fetch('/v1/live', {
      headers: { ...callHeaders('GET'), accept: 'text/event-stream' },
      signal: mine.abort.signal,
      cache: 'no-store',
    });
    if (response.status === 401 && !mine.stopped) {
      mine.stopped = true;
      ended();
    }
    if (!response.ok || response.body === null) {
      return { opened: false, refusal: await refusalOf(response) };
    }
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parse = eventsOf((name, data) => {
      if (!mine.stopped) {
        any = true;
        take(name, data);
      }
    });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return { opened: any, refusal: null };
      }
      heard();
      parse(decoder.decode(value, { stream: true }));
    }
  } catch {
    return { opened: any, refusal: null };
  } finally {
    clearTimeout(silence);
  }
}

async function refusalOf(response) {
  const problem = await response.json().catch(() => ({}));
  return {
    status: response.status,
    title: problem.title || `The server answered ${response.status}`,
    detail: problem.detail || 'See whether a proxy stands in between.',
    retryAfter: Number(response.headers.get('retry-after')) || 0,
  };
}

/** A parser of text/event-stream that is fed pieces. */
function eventsOf(emit) {
  let rest = '';
  let name = 'message';
  let data = [];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) {
          emit(name, data.join('\n'));
        }
        name = 'message';
        data = [];
      } else if (line.startsWith('event:')) {
        name = line.slice(6).trim();
      } else if (line.startsWith('data:')) {
        data.push(line.slice(5).trimStart());
      }
    }
  };
}

function take(name, data) {
  let value;
  try {
    value = JSON.parse(data);
  } catch {
    return;
  }
  if (name === 'now') {
    learn(value.at);
    const newest = Date.parse(value.at);
    const history = [...live.history, value].filter((one) => newest - Date.parse(one.at) < HISTORY_SECONDS * 1000);
    set({ state: 'live', now: value, history, refusal: null });
    fresh = fresh.map(({ change, ticks }) => ({ change, ticks: ticks - 1 }));
    fresh.filter(({ ticks }) => ticks === 0).forEach(({ change }) => tellChange(change));
    fresh = fresh.filter(({ ticks }) => ticks > 0);
  } else if (name === 'change') {
    set({ changes: [value, ...live.changes].slice(0, CHANGES) });
    fresh = [...fresh, { change: value, ticks: TICKS_UNTIL_WRITTEN }].slice(-CHANGES);
    tellChange(value);
  }
}

function tellChange(change) {
  for (const listener of [...changeListeners]) {
    listener(change);
  }
}
