// JSON with its digits and the order of its keys, which JSON.parse and JSON.stringify change: 9007199254740993 becomes
// 9007199254740992, 12.50 becomes 12.5. Bodies of events are shown and sent as they are.
//
//   await getText(path, query, { signal }), await sendText('POST', path, text)   the answer's text; they throw a Problem as those of api.js do
//   pretty(text)             the same JSON on several lines, touching only the white space (what is nested very deeply stays on
//                            one line); the text as it is when it is not JSON
//   member(text, 'data')     the text of a member of the object at the top, or undefined
//   parse(text)              a value whose numbers are written again as they were (where the browser can; JSON.stringify knows them)
//   mistake(text)            why a text is not JSON, as a sentence; '' when it is
import { callHeaders, queryString, Problem } from './api.js';
import { ended, check } from './session.js';

const LONGEST_MILLIS = 60_000;

export function getText(path, query = {}, { signal } = {}) {
  return text('GET', path + queryString(query), undefined, signal);
}

export function sendText(method, path, body) {
  return text(method, path, body);
}

async function text(method, path, body, signal) {
  const headers = callHeaders(method);
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
  }
  const limit = AbortSignal.timeout(LONGEST_MILLIS);
  let response;
  let answer;
  try {
    response = await fetch(path, { method, headers, body, signal: signal ? AbortSignal.any([signal, limit]) : limit });
    answer = await response.text();
  } catch (error) {
    if (signal?.aborted) {
      throw error;
    }
    throw new Problem({
      status: 0,
      title: limit.aborted ? 'The server does not answer' : 'The server cannot be reached',
      detail: 'See that the server runs and that this machine reaches it, then try again.',
    });
  }
  if (response.ok) {
    return answer;
  }
  if (response.status === 401) {
    ended();
  }
  let document;
  try {
    document = JSON.parse(answer);
  } catch {
    document = { title: `The server answered ${response.status}`, detail: 'The answer is not one of Holdfast. Try again.' };
  }
  const problem = new Problem({ ...document, status: response.status, retryAfter: response.headers.get('retry-after') });
  if (problem.type === 'csrf-token' && await check()) {
    throw new Problem({ status: 403, title: 'You have signed in otherwise', detail: 'Another tab has signed in with another key. Nothing was sent: look again, then send it again.' });
  }
  throw problem;
}

/** The tokens of a JSON text: strings whole, punctuation one by one, white space left out. */
function tokens(json) {
  return json.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) || [];
}

// Each level is indented by all levels around it, so that what is nested deeply grows with the square of its length. White space
// is limited: levels deeper than those that fit are left on one line.
const MOST_DEPTH = 40;
const MOST_SPACES = 1_200_000;

/** How many levels can be parted into lines. */
function levels(all) {
  const spaces = new Array(MOST_DEPTH + 1).fill(0);
  let depth = 0;
  for (let i = 0; i < all.length; i++) {
    const token = all[i];
    // A member's line belongs to the level that it is in, the line of a closing bracket to the level that it ends.
    let level = depth;
    if (token === '{' || token === '[') {
      level = ++depth;
    } else if (token === '}' || token === ']') {
      depth--;
    } else if (token !== ',') {
      continue;
    }
    if (level <= MOST_DEPTH) {
      spaces[level] += 1 + 2 * depth;
    }
  }
  let sum = 0;
  const first = spaces.findIndex((count) => (sum += count) > MOST_SPACES);
  return first < 0 ? MOST_DEPTH : first - 1;
}

export function pretty(json) {
  if (mistake(json) !== '') {
    return json;
  }
  const all = tokens(json);
  const most = levels(all);
  const out = [];
  let depth = 0;
  const line = () => out.push('\n', '  '.repeat(depth));
  for (let i = 0; i < all.length; i++) {
    const token = all[i];
    if (token === '{' || token === '[') {
      out.push(token);
      if (all[i + 1] === '}' || all[i + 1] === ']') {
        out.push(all[++i]);
      } else if (++depth <= most) {
        line();
      }
    } else if (token === '}' || token === ']') {
      if (depth-- <= most) {
        line();
      }
      out.push(token);
    } else if (token === ',') {
      out.push(token);
      if (depth <= most) {
        line();
      } else {
        out.push(' ');
      }
    } else {
      out.push(token === ':' ? ': ' : token);
    }
  }
  return out.join('');
}

export function member(json, name) {
  const all = tokens(json);
  let depth = 0;
  let found;
  for (let i = 0; i < all.length; i++) {
    if (all[i] === '{' || all[i] === '[') {
      depth++;
    } else if (all[i] === '}' || all[i] === ']') {
      depth--;
    } else if (depth === 1 && all[i + 1] === ':' && all[i].startsWith('"') && JSON.parse(all[i]) === name) {
      const start = i + 2;
      let inner = 0;
      let end = start;
      for (; end < all.length; end++) {
        if (all[end] === '{' || all[end] === '[') {
          inner++;
        } else if (all[end] === '}' || all[end] === ']') {
          if (inner === 0) {
            break;
          }
          inner--;
        } else if (all[end] === ',' && inner === 0) {
          break;
        }
      }
      found = all.slice(start, end).join('');
      i = end - 1;
    }
  }
  return found;
}

export function parse(json) {
  return JSON.parse(json, (name, value, context) =>
    typeof value === 'number' && context && JSON.rawJSON && String(value) !== context.source ? JSON.rawJSON(context.source) : value);
}

export function mistake(json) {
  if (json.trim() === '') {
    return 'Nothing is here yet: give a JSON value, such as {"amount": 12.50}.';
  }
  try {
    JSON.parse(json);
    return '';
  } catch (error) {
    const place = /position (\d+)/.exec(error.message);
    if (place === null) {
      return 'This is not JSON: see the brackets, commas and quotes at its end.';
    }
    const before = json.slice(0, Number(place[1]));
    const line = before.split('\n').length;
    return `This is not JSON: see line ${line}, character ${before.length - before.lastIndexOf('\n')}.`;
  }
}
