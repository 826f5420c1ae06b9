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
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), everyMillis);
    return () => clearInterval(timer);
  }, [everyMillis]);
  return time;
}
