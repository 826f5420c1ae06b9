// A table that can be sorted and turns into cards on narrow screens. The roles are spelled out because a table that is drawn as
// blocks is none for screen readers otherwise.
//
//   <${Table} label="Messages" rows=${list.items} keyOf=${(row) => row.id}
//     columns=${[
//       { name: 'type', title: 'Type', cell: (row) => html`…`, main: true },      main: the row's heading (and the card's)
//       { name: 'attempts', title: 'Attempts', cell: (row) => number(row.attempts), numeric: true, sort: 'attempts' },
//       { name: 'x', title: 'Actions', cell: …, hideTitle: true, wide: true },     hideTitle: for screen readers only; wide: takes the rest
//     ]}
//     sort=${filters.sort} onSort=${(sort) => setFilters({ sort })} fixed=${{ url: 'ascending' }}
//     rowClass=${(row) => …} />
//   A column with `sort` (the value that onSort gets) has a button in its head. `fixed` says which way each sort goes (descending if absent).
//
//   On a narrow screen a cell that returns '' or null is left out.
//
//   <${More} list=${usePages(…)} noun="messages" />     how many are shown, and a button for the next page; one to begin again where it is not loaded by itself
//   <${Filters}>fields<//>                              a row of filters above a table (use the fields of form.js)
import { html } from '../lib/html.js';
import { plural } from '../lib/format.js';
import { Button } from './basics.js';

export function Table({ label, rows, keyOf, columns, sort, onSort, fixed = {}, rowClass }) {
  return html`<div class="table-wrap" role="group" aria-label=${label} tabindex="0">
    <table class="table" role="table">
      <caption class="off-screen">${label}</caption>
      <thead role="rowgroup"><tr role="row">${columns.map((column) => html`<${Head} key=${column.name} column=${column} sort=${sort} onSort=${onSort} fixed=${fixed} />`)}</tr></thead>
      <tbody role="rowgroup">${rows.map((row) => html`<tr role="row" key=${keyOf(row)} class=${rowClass ? rowClass(row) : ''}>${columns.map((column) => cell(column, row))}</tr>`)}</tbody>
    </table>
  </div>`;
}

function Head({ column, sort, onSort, fixed }) {
  const names = `${column.numeric ? 'numeric' : ''} ${column.wide ? 'wide' : ''}`;
  if (column.sort === undefined || onSort === undefined) {
    return html`<th scope="col" role="columnheader" class=${names}><span class=${column.hideTitle ? 'off-screen' : ''}>${column.title}</span></th>`;
  }
  const on = sort === column.sort;
  const way = fixed[column.sort] || 'descending';
  return html`<th scope="col" role="columnheader" class=${names} aria-sort=${on ? way : undefined}>
    <button type="button" class="sort ${on ? 'sort-on' : ''}" onClick=${() => onSort(column.sort)}>${column.title}<span class="sort-mark" aria-hidden="true">${on ? (way === 'ascending' ? '▲' : '▼') : '↕'}</span></button>
  </th>`;
}

function cell(column, row) {
  const names = `${column.numeric ? 'numeric' : ''} ${column.wide ? 'wide' : ''} ${column.className || ''}`;
  const title = column.hideTitle ? undefined : column.title;
  return column.main
    ? html`<th scope="row" role="rowheader" key=${column.name} class="main ${names}" data-title=${title}><div class="cell">${column.cell(row)}</div></th>`
    : html`<td role="cell" key=${column.name} class=${names} data-title=${title}><div class="cell">${column.cell(row)}</div></td>`;
}

export function More({ list, noun = 'rows' }) {
  if (list.items === undefined) {
    return null;
  }
  const count = plural(list.items.length, noun.replace(/s$/, ''), noun);
  return html`<div class="more">
    <span class="quiet" role="status">${list.next ? (list.items.length === 0 ? `No ${noun} among those that were looked at so far` : `The first ${count}`) : count}</span>
    ${(list.next || list.deep) && html`<span class="row">
      ${list.deep && html`<span class="quiet">Not kept up to date.</span><${Button} onClick=${list.again} busy=${list.refreshing && !list.loadingMore}>Load again<//>`}
      ${list.next && html`<${Button} onClick=${list.more} busy=${list.loadingMore}>${list.items.length === 0 ? 'Look further' : 'Show more'}<//>`}
    </span>`}
  </div>`;
}

export function Filters({ children, label = 'Filters' }) {
  return html`<form class="filters" role="search" aria-label=${label} onSubmit=${(event) => event.preventDefault()}>${children}</form>`;
}
