// Calls of the API.
//
//   await get('/v1/endpoints', { state: 'frozen', limit: 50 })     query values that are null, undefined or '' are left out; arrays become a,b
//   await post('/v1/endpoints/' + id + '/enable')                  sends the CSRF header; a body is sent as JSON
//   await patch(path, body), await del(path), await put(path, body)
//   get(path, query, { wide: true })                               about all tenants, so that none is named (settings, cluster)
//
//   during(signal, () => get(…))                                   calls that begin before the function's first await are aborted with the signal
//
// They return the parsed JSON (null for 204) and throw a Problem:
//   problem.status (0: not reached), .title, .detail (what to do), .field, .type ('not-found', …), .reference
// A 401 ends the session here, and app.js shows the page sign-in. A call that is not answered within a minute is given up.
import { session, tenantHeader, ended, check } from './session.js';

const LONGEST_MILLIS = 60_000;

export class Problem extends Error {
  constructor({ status, title, detail, field, type, reference, retryAfter }) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.field = field;
    this.type = (type || '').replace('urn:holdfast:problem:', '');
    this.reference = reference;
    this.retryAfter = retryAfter;
  }
}

export function get(path, query = {}, options = {}) {
  return call('GET', path + queryString(query), undefined, options);
}

export function post(path, body, options = {}) {
  return call('POST', path, body, options);
}

export function put(path, body, options = {}) {
  return call('PUT', path, body, options);
}

export function patch(path, body, options = {}) {
  return call('PATCH', path, body, options);
}

export function del(path, options = {}) {
  return call('DELETE', path, undefined, options);
}

/** '?a=1&b=2', or '' for nothing. */
export function queryString(query) {
  const parts = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
      continue;
    }
    const text = Array.isArray(value) ? value.join(',') : String(value);
    parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(text).replaceAll('%2C', ',')}`);
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** The headers that every call sends: for whom it is, and that it comes from these pages. */
export function callHeaders(method) {
  const headers = { accept: 'application/json, application/problem+json' };
  const tenant = tenantHeader();
  if (tenant !== null) {
    headers['holdfast-tenant'] = tenant;
  }
  if (method !== 'GET' && session() !== null) {
    headers['holdfast-csrf'] = session().csrf;
  }
  return headers;
}

let around = null;

export function during(signal, call) {
  const before = around;
  around = signal ?? null;
  try {
    return call();
  } finally {
    around = before;
  }
}

async function call(method, path, body, { signal = around, wide = false } = {}) {
  const headers = callHeaders(method);
  if (wide) {
    delete headers['holdfast-tenant'];
  }
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
  }
  const abort = new AbortController();
  const stop = () => abort.abort();
  signal?.addEventListener('abort', stop);
  const limit = setTimeout(stop, LONGEST_MILLIS);
  try {
    if (signal?.aborted) {
      stop();
    }
    const response = await fetch(path, { method, headers, signal: abort.signal, body: body === undefined ? undefined : JSON.stringify(body) });
    return await answerOf(response);
  } catch (error) {
    if (error instanceof Problem || signal?.aborted) {
      throw error;
    }
    throw new Problem({
      status: 0,
      title: abort.signal.aborted ? 'The server does not answer' : 'The server cannot be reached',
      detail: 'See that the server runs and that this machine reaches it. This page tries again by itself.',
    });
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', stop);
  }
}

async function answerOf(response) {
  if (response.status === 204) {
    return null;
  }
  const text = await response.text();
  if (response.ok) {
    return text === '' ? null : JSON.parse(text);
  }
  if (response.status === 401) {
    ended();
  }
  const problem = new Problem({ ...problemOf(text, response), retryAfter: response.headers.get('retry-after') });
  if (problem.type === 'csrf-token' && await check()) {
    throw new Problem({ status: 403, title: 'You have signed in otherwise', detail: 'Another tab has signed in with another key, and this one now shows what that key may see. Nothing was changed: look again, then do it again.' });
  }
  throw problem;
}

function problemOf(text, response) {
  try {
    const problem = JSON.parse(text);
    return { ...problem, status: response.status };
  } catch {
    return {
      status: response.status,
      title: `The server answered ${response.status}`,
      detail: 'The answer is not one of Holdfast. See whether a proxy stands in between, and try again.',
    };
  }
}
