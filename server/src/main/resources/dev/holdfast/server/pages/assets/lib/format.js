// How numbers, times and reasons are written. Everything returns text. A number and its unit are never parted by a line's end (NARROW).
//
//   number(12345) '12,345'    percent(0.704) '70 %'    bytes(2048) '2 KB'    rate(0.42) '0.42'    short(123456) '123 k'
//   latency(42)               '42 ms', '1.25 s'; of attempts and percentiles; NEVER multiplied by the demo's speed
//   duration(ms)              '7 min 20 s'; of the rules (gaps, limits, ages): multiplied by session.speed
//   ago(time, now)            '3 min ago', × speed; age(time, now) '3 min'           until(time, now)   'in 7 min', or 'now', × speed
//   realUntil(time, now)      as until(), and realAgo(time, now) as ago(): NEVER multiplied; of what runs by the wall's clock also in the demo (keys, secrets)
//   spanStart(millis)         the RFC 3339 time at which a span of the rules' time ('last 15 minutes') begins that ends now: ÷ speed; ask for it in each call
//   clockTime(time)           '14:03:22' local, with the day when it is not today      utc(time)   for a title
//   setting('10m')            milliseconds of a setting's text
//   reasonText(reason, state) why an endpoint is in its state, as a sentence
//   errorText(error, status)  what went wrong with an attempt      dropText(reason)   why a message was dropped
//   statusText(status)        what a message's status means        advice(endpoint)   what to do about an endpoint
//   host(url)                 'example.com/hooks/orders' without the scheme
//   plural(3, 'endpoint')     '3 endpoints'
import { speed } from './session.js';
import { now as serverNow } from './clock.js';

const NARROW = '\u202f';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function number(value) {
  return value === null || value === undefined ? '–' : whole.format(value);
}

export function plural(count, word, words = `${word}s`) {
  return `${number(count)} ${count === 1 ? word : words}`;
}

export function percent(share) {
  if (share === null || Number.isNaN(share)) {
    return '–';
  }
  const value = share * 100;
  return `${value > 0 && value < 1 ? '<1' : value > 99 && value < 100 ? '>99' : Math.round(value)}${NARROW}%`;
}

export function rate(value) {
  if (value === null || value === undefined) {
    return '–';
  }
  return value === 0 || value >= 100 ? whole.format(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function short(value) {
  if (value < 10_000) {
    return whole.format(value);
  }
  return value < 1_000_000 ? `${trim(value / 1000)}${NARROW}k` : `${trim(value / 1_000_000)}${NARROW}M`;
}

export function bytes(value) {
  if (value === null || value === undefined) {
    return '–';
  }
  if (value < 1024) {
    return `${value}${NARROW}B`;
  }
  return value < 1024 * 1024 ? `${trim(value / 1024)}${NARROW}KB` : `${trim(value / 1024 / 1024)}${NARROW}MB`;
}

export function latency(millis) {
  if (millis === null || millis === undefined) {
    return '–';
  }
  if (millis < 1000) {
    return `${millis < 10 && !Number.isInteger(millis) ? millis.toFixed(1) : Math.round(millis)}${NARROW}ms`;
  }
  return millis < 60_000 ? `${trim(millis / 1000, 2)}${NARROW}s` : plain(millis);
}

/** Of an axis, which has no room for two units: '100 s'. */
export function latencyTick(millis) {
  return millis < 1000 ? latency(millis) : `${whole.format(millis / 1000)}${NARROW}s`;
}

export function duration(millis) {
  return plain(millis * speed());
}

export function ago(time, now) {
  const millis = (now - Date.parse(time)) * speed();
  return millis < 1000 ? 'just now' : `${coarse(millis)} ago`;
}

export function age(time, now) {
  return coarse(Math.max(0, (now - Date.parse(time)) * speed()));
}

export function until(time, now) {
  const millis = (Date.parse(time) - now) * speed();
  return millis <= 0 ? 'now' : `in ${plain(millis)}`;
}

export function realUntil(time, now) {
  const millis = Date.parse(time) - now;
  return millis <= 0 ? 'now' : `in ${plain(millis)}`;
}

export function realAgo(time, now) {
  const millis = now - Date.parse(time);
  return millis < 1000 ? 'just now' : `${coarse(millis)} ago`;
}

export function spanStart(millis) {
  return new Date(serverNow() - millis / speed()).toISOString();
}

/** At most two units: 7 min 20 s. */
function plain(millis) {
  const seconds = Math.round(millis / 1000);
  if (millis < 1000) {
    return `${Math.round(millis)}${NARROW}ms`;
  }
  const units = [[86_400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = units.findIndex(([size]) => seconds >= size);
  const [size, name] = units[first];
  const count = Math.floor(seconds / size);
  const rest = seconds - count * size;
  const next = units[first + 1];
  const smaller = next === undefined ? 0 : Math.floor(rest / next[0]);
  return smaller === 0 ? `${count}${NARROW}${name}` : `${count}${NARROW}${name} ${smaller}${NARROW}${next[1]}`;
}

/** One unit, two below ten hours: what an age needs. */
function coarse(millis) {
  const seconds = Math.floor(millis / 1000);
  if (seconds < 60) {
    return `${seconds}${NARROW}s`;
  }
  if (seconds < 3600) {
    return `${Math.floor(seconds / 60)}${NARROW}min`;
  }
  if (seconds < 36_000) {
    return plain(Math.floor(seconds / 60) * 60_000);
  }
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}${NARROW}h` : `${Math.floor(seconds / 86_400)}${NARROW}d`;
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minuteFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const yearFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

export function clockTime(time) {
  const date = new Date(time);
  const today = new Date();
  if (date.toDateString() === today.toDateString()) {
    return timeFormat.format(date);
  }
  const day = date.getFullYear() === today.getFullYear() ? dayFormat : yearFormat;
  return `${day.format(date)}, ${timeFormat.format(date)}`;
}

export function minuteTime(time) {
  return minuteFormat.format(new Date(time));
}

export function secondTime(time) {
  return timeFormat.format(new Date(time));
}

export function day(time) {
  return yearFormat.format(new Date(time));
}

export function shortDay(time) {
  return dayFormat.format(new Date(time));
}

export function utc(time) {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

/** Milliseconds of '10m', '84800ms', '72h'. NaN for what is not a duration. */
export function setting(text) {
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  return parts === null ? NaN : Number(parts[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[parts[2]];
}

export function host(url) {
  return url.replace(/^https?:\/\//, '');
}

export function reasonText(reason, state) {
  switch (reason) {
    case 'created': return 'It was created.';
    case 'failure-rate': return 'Too many of its attempts failed.';
    case 'consecutive-failures':
      return state === 'frozen' ? 'It failed too many times in a row.' : 'It failed many times in a row.';
    case 'silence': return 'It has not answered with a success for too long.';
    case 'operator': return state === 'enabled' ? 'Somebody enabled it.' : state === 'frozen' ? 'Somebody froze it.' : 'Somebody disabled it.';
    case 'probe-succeeded': return 'A probe was delivered: it works again.';
    default: return reason || '';
  }
}

export function errorText(error, status) {
  switch (error) {
    case null:
    case undefined: return status ? `Answered ${status}` : '';
    case 'status': return `Answered ${status}`;
    case 'timeout': return 'No answer in time';
    case 'dns': return 'The name of the host was not found';
    case 'connect': return 'Could not connect';
    case 'reset': return 'The connection broke';
    case 'tls': return 'The encrypted connection failed';
    case 'forbidden': return 'The egress rules do not allow the address';
    case 'protocol': return 'The answer was not HTTP';
    default: return error;
  }
}

export function dropText(reason) {
  switch (reason) {
    case 'exhausted': return 'All its attempts failed.';
    case 'expired': return 'Its deadline passed while it was parked.';
    case 'unsubscribed': return 'Its subscription was deleted.';
    default: return reason || '';
  }
}

export function statusText(status) {
  switch (status) {
    case 'pending': return 'Not tried yet';
    case 'waiting': return 'Failed; a retry is scheduled';
    case 'parked': return 'Held back while its endpoint takes no deliveries';
    case 'delivered': return 'The endpoint has answered with a 2xx';
    case 'dropped': return 'Given up';
    default: return status;
  }
}

/** What somebody should do about an endpoint; '' when nothing. */
export function advice(endpoint) {
  if (endpoint.goneAt) {
    return 'It answered 410 Gone: the receiver wants no more. Delete its subscriptions if that is so.';
  }
  if (endpoint.state === 'frozen') {
    return 'Nothing is tried any more. Get the receiver repaired, send a test, then enable it.';
  }
  if (endpoint.state === 'disabled') {
    return endpoint.nextProbeAt
      ? 'It is probed by itself and enabled by the first success. Look at its last attempts and tell the receiver’s owner.'
      : 'Somebody disabled it. Enable it when deliveries may go on.';
  }
  return endpoint.consecutiveFailures > 0 ? 'Look at its last attempts; retries go on by themselves.' : '';
}

function trim(value, digits = 1) {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(digits)));
}
