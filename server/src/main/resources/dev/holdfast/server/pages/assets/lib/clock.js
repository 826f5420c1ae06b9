// The server's time, as well as it is known here, and hooks that draw again as it passes.
//
//   now()            milliseconds, corrected by what the server's stream says
//   useNow(1000)     the same, and the component is drawn again every so many milliseconds
//   learn(time)      live.js tells the server's time
import { useState, useEffect } from './html.js';

let ahead = 0;

export function now() {
  return Date.now() + ahead;
}

/** Takes the server's time over when it differs by more than what a slow line explains. */
export function learn(time) {
  const difference = Date.parse(time) - Date.now();
  ahead = Math.abs(difference) > 3000 ? difference : 0;
}

export function useNow(everyMillis = 1000) {
  const [time, setTime] = useState(now());
  useEffect(() => follow(everyMillis, setTime), [everyMillis]);
  return time;
}

// One timer for all who follow at the same pace, so that a long list is drawn once a tick.
const paces = new Map();

function follow(everyMillis, listener) {
  let pace = paces.get(everyMillis);
  if (pace === undefined) {
    const listeners = new Set();
    pace = { listeners, timer: setInterval(() => listeners.forEach((one) => one(now())), everyMillis) };
    paces.set(everyMillis, pace);
  }
  pace.listeners.add(listener);
  return () => {
    pace.listeners.delete(listener);
    if (pace.listeners.size === 0) {
      clearInterval(pace.timer);
      paces.delete(everyMillis);
    }
  };
}
