// Charts as SVG. Each can be read with the mouse, with the arrow keys, and by a screen reader. Series differ by colour AND by line (solid, dashed,
// dotted), points by colour AND by shape.
//
//   <${LineChart} label="Deliveries a minute" times=${[ms…]} height=${180} format=${number}
//      series=${[{ name: 'delivered', values: [n or null…], tone: 'good', area: true }, { name: 'failed', values, tone: 'bad', line: 'dashed' }]}
//      tickText=${(n) => …} timeText=${(ms) => …} gap=${ms} from=${ms} to=${ms} log />      gap: no line between points further apart; log: powers of ten
//      line: solid | dashed | dotted | dashdot; tone: good bad warn cold info plain
//   <${Sparkline} attempts=${[{ at, durationMillis, outcome }…]} />      successes go up, failures go down; height by duration
//   <${Scatter} label points=${[{ at: ms, value, outcome: 'success'|'failure', text, href }]} limit=${{ value, text }} height format=${latency} from to />
//      time across, value up (logarithmic); circles succeeded, crosses failed; Enter opens the href of the chosen point
//   <${Bar} value=${40} max=${100} tone="warn" label="40 of 100" />      how far something is from its limit; the text stands beside it
//   <${Parts} label="Endpoints" parts=${[{ name: 'enabled', value: 90, tone: 'good', shape: 'enabled', href }]} />   one bar of labelled parts
import { html, useState, useRef, useLayoutEffect, useMemo } from '../lib/html.js';
import * as text from '../lib/format.js';
import { navigate } from '../lib/router.js';
import { Shape } from './basics.js';

const LEFT = 46;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;

/** The width of an element, followed as it changes: text in a chart is never scaled. */
function useWidth() {
  const element = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.floor(element.current.getBoundingClientRect().width));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** The chosen one of points that come and go, by what names it: it stays the same when others come. */
function useChosen(names) {
  const [chosen, setChosen] = useState(null);
  const index = chosen === null ? -1 : names.indexOf(chosen);
  return [index < 0 ? null : index, (i) => setChosen(i === null ? null : names[i])];
}

export function LineChart({ label, times, series, height = 180, format = text.number, tickText = format, timeText, gap = Infinity, from, to, log = false, empty }) {
  const [element, width] = useWidth();
  const [index, setChosen] = useChosen(times);
  const spoken = useSpoken();
  const first = from ?? times[0];
  const last = to ?? times[times.length - 1];
  const say = timeText || text.minuteTime;
  const all = series.flatMap((one) => one.values.filter((value) => value !== null && value !== undefined));
  const scale = log ? logScale(all) : linearScale(all);
  const x = (time) => LEFT + ((time - first) / Math.max(1, last - first)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - scale.share(value)) * (height - TOP - BOTTOM);
  const nearest = (clientX) => {
    const at = clientX - element.current.getBoundingClientRect().left;
    let best = 0;
    for (let i = 1; i < times.length; i++) {
      if (Math.abs(x(times[i]) - at) < Math.abs(x(times[best]) - at)) {
        best = i;
      }
    }
    return best;
  };
  const readout = (i) => `${say(times[i])}: ${series.map((one) => `${format(one.values[i])} ${one.name}`).join(', ')}`;
  const nothing = times.length < 2 || all.length === 0;
  const shown = index ?? times.length - 1;
  return html`<figure class="chart">
    <figcaption class="chart-caption">
      <ul class="legend">${series.map((one) => html`<li key=${one.name} class="tone-${one.tone}"><${LineSample} line=${one.line} area=${one.area} /><span>${one.name}</span> ${!nothing && html`<b>${format(one.values[shown])}</b>`}</li>`)}</ul>
      <span class="chart-time quiet">${nothing ? '' : index === null ? '' : say(times[index])}</span>
    </figcaption>
    <div ref=${element} class="chart-area" style=${{ height: `${height}px` }} ...${slider(spoken, label, times.length, index, setChosen, nothing ? '' : readout(shown))}
      onPointerMove=${(event) => !nothing && setChosen(nearest(event.clientX))} onPointerLeave=${() => setChosen(null)}>
      ${nothing && html`<p class="chart-empty quiet">${empty || 'Nothing yet.'}</p>`}
      ${!nothing && width > 0 && html`<svg width=${width} height=${height} aria-hidden="true" focusable="false">
        ${scale.ticks.map((value) => html`<g key=${value}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(value)} y2=${y(value)} /><text class="tick" x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${tickText(value)}</text></g>`)}
        ${timeTicks(first, last, width).map((time) => html`<text class="tick" key=${time} x=${x(time)} y=${height - 6} text-anchor="middle">${timeText ? timeText(time) : axisTime(time, last - first)}</text>`)}
        ${series.map((one) => html`<g key=${one.name} class="tone-${one.tone}">
          ${one.area && html`<path class="area" d=${areaPath(one.values, times, x, y, gap)} />`}
          <path class="line line-${one.line || 'solid'}" d=${linePath(one.values, times, x, y, gap)} /></g>`)}
        ${index !== null && html`<g><line class="cursor" x1=${x(times[index])} x2=${x(times[index])} y1=${TOP} y2=${height - BOTTOM} />
          ${series.map((one) => one.values[index] !== null && html`<circle key=${one.name} class="dot tone-${one.tone}" cx=${x(times[index])} cy=${y(one.values[index])} r="3.5" />`)}</g>`}
      </svg>`}
    </div>
  </figure>`;
}

function LineSample({ line, area }) {
  return html`<svg class="sample" width="22" height="10" aria-hidden="true">${area && html`<rect class="area" x="0" y="5" width="22" height="5" />`}<line class="line line-${line || 'solid'}" x1="0" x2="22" y1="5" y2="5" /></svg>`;
}

/** What a chart says while it is focused: a live one would speak every second. It is held until a key is pressed. */
function useSpoken() {
  return useRef({ focused: false, held: null }).current;
}

/** Attributes that make a chart a slider over its points: arrow keys move, Escape leaves. */
function slider(spoken, label, count, index, setChosen, valueText, onEnter) {
  const move = (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -count, End: count }[event.key];
    if (event.key === 'Escape') {
      spoken.held = null;
      setChosen(null);
    } else if (event.key === 'Enter' && onEnter) {
      onEnter();
    } else if (steps !== undefined && count > 0) {
      event.preventDefault();
      spoken.held = null;
      setChosen(Math.max(0, Math.min(count - 1, (index ?? count - 1) + (index === null && steps === 1 ? 0 : steps))));
    }
  };
  const said = { most: Math.max(0, count - 1), at: index ?? Math.max(0, count - 1), text: valueText || 'Nothing yet' };
  if (spoken.focused) {
    spoken.held ??= said;
  }
  const { most, at, text: words } = spoken.held ?? said;
  return {
    tabindex: 0, role: 'slider', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': most, 'aria-valuenow': at, 'aria-valuetext': words, onKeyDown: move,
    onFocus: () => {
      spoken.focused = true;
      spoken.held = said;
    },
    onBlur: () => {
      spoken.focused = false;
      spoken.held = null;
      setChosen(null);
    },
  };
}

function niceTop(most) {
  if (most <= 0) {
    return 1;
  }
  const size = 10 ** Math.floor(Math.log10(most));
  return (size < 10 ? [1, 2, 4, 6, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10]).map((n) => Math.round(n * size)).find((n) => n >= most);
}

function linearScale(values) {
  const top = niceTop(Math.max(0, ...values));
  return { share: (value) => value / top, ticks: top <= 1 ? [0, top] : [0, top / 2, top] };
}

/** From a power of ten to another: small values stay visible below large ones. What is less than 1 counts as 1. */
function logScale(values) {
  const powers = values.map((value) => Math.log10(Math.max(1, value)));
  const low = Math.floor(Math.min(...powers, 3));
  const high = Math.max(low + 1, Math.ceil(Math.max(...powers, 0)));
  return {
    share: (value) => Math.max(0, (Math.log10(Math.max(1, value)) - low) / (high - low)),
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
  };
}

const TIME_STEPS = [5, 10, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800].map((s) => s * 1000);

function timeTicks(first, last, width) {
  const most = Math.max(2, Math.floor((width - LEFT - RIGHT) / 80));
  const step = TIME_STEPS.find((one) => (last - first) / one <= most) || (last - first) / most;
  const zone = new Date(last).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let time = Math.ceil((first - zone) / step) * step + zone; time <= last; time += step) {
    ticks.push(time);
  }
  const pixels = (width - LEFT - RIGHT) / Math.max(1, last - first);
  return ticks.filter((time) => (last - time) * pixels > 14);
}

/** Seconds for short spans, the day where one begins, else hours and minutes. */
function axisTime(time, span) {
  const date = new Date(time);
  if (span < 600_000) {
    return text.secondTime(time);
  }
  const midnight = date.getHours() === 0 && date.getMinutes() === 0;
  return span > 5 * 86_400_000 || (midnight && span > 43_200_000) ? text.shortDay(time) : text.minuteTime(time);
}

function runs(values, times, gap) {
  const found = [];
  let run = [];
  values.forEach((value, i) => {
    if (value === null || value === undefined || (run.length > 0 && times[i] - times[run[run.length - 1]] > gap)) {
      if (run.length > 0) {
        found.push(run);
      }
      run = [];
    }
    if (value !== null && value !== undefined) {
      run.push(i);
    }
  });
  return run.length > 0 ? [...found, run] : found;
}

function linePath(values, times, x, y, gap) {
  return runs(values, times, gap).map((run) => {
    const points = run.map((i) => `${x(times[i]).toFixed(1)},${y(values[i]).toFixed(1)}`);
    return points.length === 1 ? `M${points[0]}h.01` : `M${points.join('L')}`;
  }).join('');
}

function areaPath(values, times, x, y, gap) {
  return runs(values, times, gap).map((run) => {
    const points = run.map((i) => `${x(times[i]).toFixed(1)},${y(values[i]).toFixed(1)}`);
    return `M${x(times[run[0]]).toFixed(1)},${y(0)}L${points.join('L')}L${x(times[run[run.length - 1]]).toFixed(1)},${y(0)}Z`;
  }).join('');
}

export function Sparkline({ attempts, count = 30 }) {
  const shown = (attempts || []).slice(-count);
  const failed = shown.filter((one) => one.outcome !== 'success').length;
  const name = shown.length === 0 ? 'No attempts yet' : `Last ${shown.length} attempts: ${shown.length - failed} succeeded, ${failed} failed`;
  const size = (one) => Math.max(2, Math.min(11, 2 + 2.4 * Math.log10(Math.max(1, one.durationMillis))));
  return html`<svg class="spark" width=${count * 4} height="26" role="img" aria-label=${name}>
    <title>${name}</title>
    <line class="grid" x1="0" x2=${count * 4} y1="13" y2="13" />
    ${shown.map((one, i) => {
      const ok = one.outcome === 'success';
      const long = size(one);
      return html`<rect key=${i} class=${ok ? 'tone-good' : 'tone-bad'} x=${(count - shown.length + i) * 4} y=${ok ? 12.5 - long : 13.5} width="3" height=${long} />`;
    })}
  </svg>`;
}

export function Scatter({ label, points, limit, height = 220, format = text.latency, from, to, empty }) {
  const [element, width] = useWidth();
  const sorted = useMemo(() => [...points].sort((a, b) => a.at - b.at), [points]);
  const [index, setChosen] = useChosen(useMemo(() => sorted.map((point) => `${point.at} ${point.href} ${point.text}`), [sorted]));
  const spoken = useSpoken();
  const first = from ?? (sorted.length > 0 ? sorted[0].at : 0);
  const last = Math.max(first + 1000, to ?? (sorted.length > 0 ? sorted[sorted.length - 1].at : 1));
  const least = Math.max(1, Math.min(...sorted.map((point) => point.value || 1), limit ? limit.value : Infinity));
  const most = Math.max(10, ...sorted.map((point) => point.value), limit ? limit.value * 1.15 : 0);
  const low = Math.floor(Math.log10(least));
  const high = Math.log10(most) + 0.08;
  const x = (time) => LEFT + 6 + ((time - first) / (last - first)) * (width - LEFT - RIGHT - 12);
  const y = (value) => TOP + (1 - (Math.log10(Math.max(1, value)) - low) / (high - low)) * (height - TOP - BOTTOM);
  const ticks = [];
  for (let power = low; power <= high; power++) {
    ticks.push(10 ** power);
  }
  const nearest = (event) => {
    const box = element.current.getBoundingClientRect();
    let best = 0;
    let near = Infinity;
    sorted.forEach((point, i) => {
      const distance = Math.hypot(x(point.at) - (event.clientX - box.left), y(point.value) - (event.clientY - box.top));
      if (distance < near) {
        near = distance;
        best = i;
      }
    });
    return near < 60 ? best : null;
  };
  const open = () => index !== null && sorted[index].href && navigate(sorted[index].href);
  const say = (point) => `${text.clockTime(point.at)}: ${format(point.value)}, ${point.text}`;
  const succeeded = sorted.filter((point) => point.outcome === 'success').length;
  return html`<figure class="chart">
    <figcaption class="chart-caption">
      <ul class="legend">
        <li class="tone-good"><svg class="sample" width="12" height="12" aria-hidden="true"><circle class="point" cx="6" cy="6" r="3.5" /></svg><span>succeeded</span> <b>${text.number(succeeded)}</b></li>
        <li class="tone-bad"><svg class="sample" width="12" height="12" aria-hidden="true"><path class="cross" d="M2.5 2.5l7 7M9.5 2.5l-7 7" /></svg><span>failed</span> <b>${text.number(sorted.length - succeeded)}</b></li>
      </ul>
      <span class="chart-time">${index === null ? '' : say(sorted[index])}</span>
    </figcaption>
    <div ref=${element} class="chart-area ${index !== null && sorted[index].href ? 'chart-link' : ''}" style=${{ height: `${height}px` }}
      ...${slider(spoken, label, sorted.length, index, setChosen, sorted.length === 0 ? '' : say(sorted[index ?? sorted.length - 1]), open)}
      onPointerMove=${(event) => setChosen(nearest(event))} onPointerLeave=${() => setChosen(null)} onClick=${open}>
      ${sorted.length === 0 && html`<p class="chart-empty quiet">${empty || 'No attempts yet.'}</p>`}
      ${sorted.length > 0 && width > 0 && html`<svg width=${width} height=${height} aria-hidden="true" focusable="false">
        ${ticks.map((value) => html`<g key=${value}><line class="grid" x1=${LEFT} x2=${width - RIGHT} y1=${y(value)} y2=${y(value)} /><text class="tick" x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${format(value)}</text></g>`)}
        ${timeTicks(first, last, width).map((time) => html`<text class="tick" key=${time} x=${x(time)} y=${height - 6} text-anchor="middle">${axisTime(time, last - first)}</text>`)}
        ${limit && html`<g class="tone-bad"><line class="limit" x1=${LEFT} x2=${width - RIGHT} y1=${y(limit.value)} y2=${y(limit.value)} /><text class="limit-text" x=${LEFT + 4} y=${y(limit.value) - 5}>${limit.text}</text></g>`}
        ${sorted.map((point, i) => (point.outcome === 'success'
          ? html`<circle key=${i} class="point tone-good" cx=${x(point.at)} cy=${y(point.value)} r=${i === index ? 5 : 3} />`
          : html`<path key=${i} class="cross tone-bad" d=${cross(x(point.at), y(point.value), i === index ? 5 : 3.2)} />`))}
        ${index !== null && html`<circle class="ring" cx=${x(sorted[index].at)} cy=${y(sorted[index].value)} r="8" />`}
      </svg>`}
    </div>
  </figure>`;
}

function cross(x, y, r) {
  return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`;
}

export function Bar({ value, max, tone = 'plain', label }) {
  const share = max > 0 ? Math.max(0, Math.min(1, value / max)) : 0;
  return html`<span class="bar tone-${tone}" role="img" aria-label=${label || `${text.number(value)} of ${text.number(max)}`}><span class="bar-fill" style=${{ width: `${share * 100}%` }}></span></span>`;
}

export function Parts({ label, parts }) {
  const sum = parts.reduce((all, part) => all + part.value, 0);
  return html`<div class="parts" role="group" aria-label=${label}>
    <div class="parts-bar" aria-hidden="true">${parts.filter((part) => part.value > 0).map((part) => html`<span key=${part.name} class="parts-piece tone-${part.tone} fill-${part.shape || part.name}" style=${{ flexGrow: part.value, flexBasis: 0 }}></span>`)}${sum === 0 && html`<span class="parts-piece parts-none"></span>`}</div>
    <ul class="parts-list">${parts.map((part) => html`<li key=${part.name} class="tone-${part.tone}"><${Shape} name=${part.shape || part.name} />${part.href ? html`<a href=${part.href}>${part.name}</a>` : html`<span>${part.name}</span>`} <b>${text.number(part.value)}</b></li>`)}</ul>
  </div>`;
}
