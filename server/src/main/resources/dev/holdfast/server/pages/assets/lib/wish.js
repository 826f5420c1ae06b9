// A subscription as a form has it: everything is text until it is sent, and what the server hides (a token, values of headers, of a
// URL's query) stays untouched unless somebody writes it anew.
//
//   emptyForm(), formOf(subscription)      what the fields show
//   mistakes(form, original)               { url: 'what to do', 'filters[0].fieldValue': … } of what cannot work; the server decides the rest
//   newBody(form), patchBody(form, original)   what is sent
//   previewBody(form)                      what a preview is asked about
//   meaning(text)                          what a filter's value is taken as: { value, text }
import { parse } from './exact.js';

export const COMPARISONS = [
  ['eq', 'is'], ['ne', 'is not'], ['gt', 'is greater than'], ['gte', 'is at least'], ['lt', 'is less than'], ['lte', 'is at most'],
  ['contains', 'contains'], ['notContains', 'does not contain'], ['containsOnly', 'contains only'], ['changed', 'has changed'],
];
const ORDERED = ['gt', 'gte', 'lt', 'lte'];
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const OURS = /^(host|content-(length|type|encoding)|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|http2-settings|early-data|expect|user-agent|traceparent|tracestate|webhook-.*)$/i;

let serial = 0;

/** Rows of a form are told apart by a key, so that removing one does not mix the others up. */
export function row(kind, fields = {}) {
  const key = ++serial;
  return kind === 'group'
    ? { key, kind, connector: 'OR', rows: [row('comparison'), row('comparison')], ...fields }
    : { key, kind, fieldName: '', comparison: 'eq', value: '', state: 'newState', ...fields };
}

export function headerRow(fields = {}) {
  return { key: ++serial, name: '', value: '', kept: null, ...fields };
}

export function emptyForm() {
  return {
    url: '', types: '', subject: '', format: 'holdfast', version: 'v2', base64: false, connector: 'AND', filters: [], headers: [],
    token: '', tokenKept: null, rateLimit: '', since: '', signature: 'v1', secret: '',
  };
}

export function formOf(one) {
  return {
    ...emptyForm(),
    url: one.url,
    types: one.types.join('\n'),
    subject: one.subject ?? '',
    format: one.format,
    version: one.version ?? 'v2',
    base64: one.base64Encoding,
    connector: one.filterConnector,
    filters: one.filters.map(rowOf),
    headers: Object.entries(one.headers).map(([name, kept]) => headerRow({ name, kept })),
    tokenKept: one.authToken,
    rateLimit: one.rateLimit === null ? '' : JSON.stringify(one.rateLimit),
  };
}

function rowOf(filter) {
  if (filter.type === 'group') {
    return row('group', { connector: filter.connector, rows: filter.filters.map(rowOf) });
  }
  return row('comparison', {
    fieldName: filter.fieldName,
    comparison: filter.comparison,
    value: 'fieldValue' in filter ? written(filter.fieldValue) : '',
    state: filter.state ?? 'newState',
  });
}

/** A text stands without quotes, unless it would then be taken for something else. */
function written(value) {
  if (typeof value === 'string' && value.trim() === value && value !== '' && meaning(value).value === value) {
    return value;
  }
  return JSON.stringify(value);
}

export function meaning(text) {
  const trimmed = text.trim();
  try {
    const value = parse(trimmed);
    const plain = JSON.parse(trimmed);
    const kind = plain === null ? 'null' : Array.isArray(plain) ? 'an array' : typeof plain === 'object' ? 'an object' : `the ${typeof plain === 'string' ? 'text' : typeof plain} ${typeof plain === 'string' ? `“${plain}”` : trimmed}`;
    return { value, plain, text: kind };
  } catch {
    return { value: trimmed, plain: trimmed, text: trimmed === '' ? '' : `the text “${trimmed}”` };
  }
}

function typesOf(form) {
  return [...new Set(form.types.split('\n').map((line) => line.trim()).filter((line) => line !== ''))];
}

function filtersOf(rows) {
  return rows.map((one) => {
    if (one.kind === 'group') {
      return { type: 'group', connector: one.connector, filters: filtersOf(one.rows) };
    }
    const filter = { fieldName: one.fieldName, comparison: one.comparison, state: one.state };
    if (one.comparison !== 'changed') {
      filter.fieldValue = meaning(one.value).value;
    }
    return filter;
  });
}

export function mistakes(form, original) {
  const found = {};
  if (form.url === '') {
    found.url = 'Say where messages go: https://…';
  } else if (original === null || form.url !== original.url) {
    if (!/^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/i.test(form.url)) {
      found.url = 'A URL begins with https:// or http://, has a host, and no user name, blank or #.';
    } else if (form.url.includes('****')) {
      found.url = 'The values of the query are hidden here. Write them out instead of ****.';
    } else if (form.url.length > 2048) {
      found.url = 'At most 2,048 characters.';
    }
  }
  const types = typesOf(form);
  if (types.length === 0) {
    found.types = 'Give at least one type, such as order.paid, or a pattern, such as order.*';
  } else if (types.length > 100) {
    found.types = 'At most 100 types. Use patterns with *.';
  } else if (types.some((one) => one.length > 256 || CONTROL.test(one))) {
    found.types = 'A type has at most 256 characters.';
  }
  if (form.subject.length > 256 || CONTROL.test(form.subject)) {
    found.subject = 'At most 256 characters.';
  }
  const creating = types.length > 0 && types.every((one) => one.endsWith('.CREATE'));
  checkFilters(form.filters, 'filters', found, creating);
  const names = new Set();
  form.headers.forEach((one, i) => {
    const place = `headers[${i}]`;
    const name = one.name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(one.name)) {
      found[`${place}.name`] = one.name === '' ? 'Give the header a name, or remove it.' : 'Letters, digits and hyphens only.';
    } else if (OURS.test(one.name)) {
      found[`${place}.name`] = 'Holdfast sets this header itself. Use another name.';
    } else if (name === 'authorization' && (form.token !== '' || form.tokenKept !== null)) {
      found[`${place}.name`] = 'There is a token already, which is sent as Authorization. Use one of them.';
    } else if (names.has(name)) {
      found[`${place}.name`] = 'This header is there twice.';
    }
    names.add(name);
    if (one.kept === null && !/^[!-~]([ -~]{0,998}[!-~])?$/.test(one.value)) {
      found[`${place}.value`] = one.value === '' ? 'Give it a value.' : 'Printable ASCII only, without a blank at its beginning or end.';
    }
  });
  if (form.token !== '' && !/^[!-~]{1,255}$/.test(form.token)) {
    found.authToken = 'Visible ASCII without blanks, at most 255 characters.';
  }
  if (form.rateLimit.trim() !== '' && !(Number(form.rateLimit) >= 0.001 && Number(form.rateLimit) <= 10_000)) {
    found.rateLimit = 'A number from 0.001 to 10,000, or nothing for no limit.';
  }
  if (form.secret !== '' && !/^(whsec_[A-Za-z0-9+/]{32,86}={0,2}|whsk_[A-Za-z0-9+/]{86}==)$/.test(form.secret)) {
    found.secret = 'whsec_ and 24 to 64 bytes in Base64. Leave it empty to get one made.';
  }
  return found;
}

function checkFilters(rows, path, found, creating) {
  rows.forEach((one, i) => {
    const place = `${path}[${i}]`;
    if (one.kind === 'group') {
      checkFilters(one.rows, `${place}.filters`, found, creating);
      if (one.rows.length < 2 || one.rows.length > 5) {
        found[place] = 'A group has 2 to 5 filters.';
      }
      return;
    }
    if (one.fieldName === '') {
      found[`${place}.fieldName`] = 'Name a field at the top of the data.';
    } else if (one.fieldName.length > 256) {
      found[`${place}.fieldName`] = 'At most 256 characters.';
    }
    if (creating && (one.comparison === 'changed' || one.state === 'oldState')) {
      found[`${place}.comparison`] = 'Types that end with .CREATE have no state before.';
    }
    if (one.comparison === 'changed') {
      return;
    }
    const { plain } = meaning(one.value);
    const parted = typeof plain === 'object' && plain !== null;
    if (one.value.trim() === '') {
      found[`${place}.fieldValue`] = 'Give a value. An empty text is "".';
    } else if (ORDERED.includes(one.comparison) && (plain === null || typeof plain === 'boolean' || Array.isArray(plain))) {
      found[`${place}.fieldValue`] = 'This has no order. Use “is” or “is not”.';
    } else if (['contains', 'notContains'].includes(one.comparison) && Array.isArray(plain)) {
      found[`${place}.fieldValue`] = 'Use a filter for each value, or “contains only”.';
    } else if (parted && !Array.isArray(plain) && Object.keys(plain).length === 0) {
      found[`${place}.fieldValue`] = 'An empty object asks for nothing.';
    } else if (one.value.length > 8192) {
      found[`${place}.fieldValue`] = 'At most 8,192 characters.';
    }
  });
}

function headersOf(form) {
  return Object.fromEntries(form.headers.filter((one) => one.kept === null).map((one) => [one.name, one.value]));
}

export function newBody(form) {
  const body = { url: form.url, types: typesOf(form), format: form.format };
  if (form.subject !== '') {
    body.subject = form.subject;
  }
  if (form.filters.length > 0) {
    body.filters = filtersOf(form.filters);
    body.filterConnector = form.connector;
  }
  if (form.format === 'workfront') {
    body.version = form.version;
    body.base64Encoding = form.base64;
  }
  if (form.headers.length > 0) {
    body.headers = headersOf(form);
  }
  if (form.token !== '') {
    body.authToken = form.token;
  }
  if (form.rateLimit.trim() !== '') {
    body.rateLimit = Number(form.rateLimit);
  }
  if (form.since !== '') {
    body.since = form.since;
  }
  if (form.secret !== '') {
    body.secret = form.secret;
  } else if (form.signature !== 'v1') {
    body.signature = form.signature;
  }
  return body;
}

/** Only what was changed: what is absent stays. */
export function patchBody(form, original) {
  const before = formOf(original);
  const body = {};
  if (form.url !== before.url) {
    body.url = form.url;
  }
  if (typesOf(form).join('\n') !== typesOf(before).join('\n')) {
    body.types = typesOf(form);
  }
  if (form.subject !== before.subject) {
    body.subject = form.subject === '' ? null : form.subject;
  }
  if (JSON.stringify(filtersOf(form.filters)) !== JSON.stringify(filtersOf(before.filters))) {
    body.filters = filtersOf(form.filters);
  }
  if (form.connector !== before.connector) {
    body.filterConnector = form.connector;
  }
  if (form.format !== before.format) {
    body.format = form.format;
  }
  if (form.format === 'workfront') {
    if (form.version !== before.version || before.format !== 'workfront') {
      body.version = form.version;
    }
    if (form.base64 !== before.base64) {
      body.base64Encoding = form.base64;
    }
  }
  if (form.token !== '') {
    body.authToken = form.token;
  } else if (before.tokenKept !== null && form.tokenKept === null) {
    body.authToken = null;
  }
  const headers = headersOf(form);
  // Upper and lower case are the same: a header whose case is changed is set, not removed too.
  const names = form.headers.map((one) => one.name.toLowerCase());
  for (const name of Object.keys(original.headers)) {
    if (!names.includes(name.toLowerCase())) {
      headers[name] = null;
    }
  }
  if (Object.keys(headers).length > 0) {
    body.headers = headers;
  }
  if (form.rateLimit.trim() !== before.rateLimit) {
    body.rateLimit = form.rateLimit.trim() === '' ? null : Number(form.rateLimit);
  }
  return body;
}

export function previewBody(form) {
  const subscription = { types: typesOf(form), filters: filtersOf(form.filters), filterConnector: form.connector };
  if (form.subject !== '') {
    subscription.subject = form.subject;
  }
  return { subscription };
}
