// Fields of forms: each has a label, may have a hint, and shows what is wrong while it is typed.
//
//   <${TextField} label="URL" value=${v} onInput=${(text) => …} hint="…" error=${'' or text} mono required type="text|search|password|number|url"
//       placeholder list=${['a', 'b']} autofocus wait=${300} compact />    wait: onInput is called so many ms after the last key; compact: for filters
//   <${TextArea} label value onInput rows=${6} mono hint error />
//   <${Select} label value onChange=${(value) => …} options=${[['', 'All states'], ['frozen', 'Frozen']]} compact />
//   <${Check} label checked onChange=${(b) => …} hint />
//   <${TimeField} label value=${iso or ''} onInput=${(iso or '') => …} />       a local time; gives and takes RFC 3339
//   <${FormActions}>buttons<//>
//   What is wrong is text that says what to do. A Problem's `field` tells which field's error it is:
//     fieldError(problem, 'url')   its detail if it is about that field, else ''
import { html, useId, useState, useEffect, useRef } from '../lib/html.js';
import { Shape } from './basics.js';

export function fieldError(problem, name) {
  return problem && problem.field && (problem.field === name || problem.field.startsWith(`${name}.`) || problem.field.startsWith(`${name}[`)) ? problem.detail : '';
}

function Frame({ id, label, hint, error, compact, hideLabel, required, children }) {
  return html`<div class="field ${compact ? 'field-compact' : ''} ${error ? 'field-bad' : ''}">
    <label for=${id} class=${hideLabel ? 'off-screen' : ''}>${label}${required && html`<span class="quiet"> (needed)</span>`}</label>
    ${children}
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    <p class="field-error" id="${id}-error" aria-live="polite">${error && html`<${Shape} name="bad" /> ${error}`}</p>
  </div>`;
}

function described(id, hint, error) {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
}

export function TextField({ label, value, onInput, hint, error, mono, required, type = 'text', placeholder, list, autofocus, wait = 0, compact, hideLabel, min, max, step, autocomplete = 'off', onBlur }) {
  const id = useId();
  const [typed, setTyped] = useState(null);
  const timer = useRef(0);
  const input = useRef(null);
  useEffect(() => {
    if (autofocus) {
      input.current.focus();
    }
    return () => clearTimeout(timer.current);
  }, []);
  const onType = (event) => {
    const text = event.target.value;
    if (wait === 0) {
      onInput(text);
      return;
    }
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setTyped(null);
      onInput(text);
    }, wait);
  };
  return html`<${Frame} ...${{ id, label, hint, error, compact, hideLabel, required }}>
    <input id=${id} ref=${input} class=${mono ? 'mono' : ''} type=${type} value=${typed ?? value} onInput=${onType} onBlur=${onBlur} placeholder=${placeholder}
      autocomplete=${autocomplete} spellcheck=${false} autocapitalize="off" min=${min} max=${max} step=${step} required=${required}
      list=${list ? `${id}-list` : undefined} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described(id, hint, error)} />
    ${list && html`<datalist id="${id}-list">${list.map((one) => html`<option value=${one} key=${one} />`)}</datalist>`}
  <//>`;
}

export function TextArea({ label, value, onInput, rows = 6, mono, hint, error, required, placeholder }) {
  const id = useId();
  return html`<${Frame} ...${{ id, label, hint, error, required }}>
    <textarea id=${id} class=${mono ? 'mono' : ''} rows=${rows} value=${value} onInput=${(event) => onInput(event.target.value)} spellcheck=${false} placeholder=${placeholder}
      aria-invalid=${error ? 'true' : undefined} aria-describedby=${described(id, hint, error)}></textarea>
  <//>`;
}

export function Select({ label, value, onChange, options, hint, error, compact, hideLabel }) {
  const id = useId();
  return html`<${Frame} ...${{ id, label, hint, error, compact, hideLabel }}>
    <select id=${id} value=${value} onChange=${(event) => onChange(event.target.value)} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described(id, hint, error)}>
      ${options.map(([key, text]) => html`<option value=${key} key=${key} selected=${key === value}>${text}</option>`)}
    </select>
  <//>`;
}

export function Check({ label, checked, onChange, hint }) {
  const id = useId();
  return html`<div class="field check">
    <input id=${id} type="checkbox" checked=${checked} onChange=${(event) => onChange(event.target.checked)} aria-describedby=${described(id, hint, '')} />
    <label for=${id}>${label}</label>
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

export function TimeField({ label, value, onInput, hint, error, compact }) {
  const id = useId();
  const change = (event) => {
    const date = new Date(event.target.value);
    onInput(event.target.value === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString());
  };
  return html`<${Frame} ...${{ id, label, hint, error, compact }}>
    <input id=${id} type="datetime-local" value=${localText(value)} onChange=${change} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described(id, hint, error)} />
  <//>`;
}

// A datetime-local field takes the local time without its zone.
function localText(iso) {
  const date = new Date(iso);
  if (!iso || Number.isNaN(date.getTime())) {
    return '';
  }
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function FormActions({ children }) {
  return html`<div class="form-actions">${children}</div>`;
}
