// What several pages show alike: tables, commits, times, texts of bounded length and links. Pure. Every value is escaped by
// `html`.
import { type Html, html } from '../../web/html.ts'

type Cell = Html | string | undefined

/**
 * A table whose first column names the row. On a narrow screen each row becomes a block with the columns' names beside the
 * values; the roles keep its meaning for assistive technology then (https://www.w3.org/WAI/ARIA/apg/patterns/table/).
 */
export function table(options: {
  readonly caption: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}): Html {
  const { caption, columns, rows } = options
  const cell = (value: Cell, index: number): Html =>
    index === 0
      ? html`<th scope="row" role="rowheader">${value}</th>`
      : html`<td role="cell" data-label="${columns[index]}">${value ?? ''}</td>`
  return html`<table class="stack" role="table"><caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(name => html`<th scope="col" role="columnheader">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(row => html`<tr role="row">${row.map(cell)}</tr>`)}</tbody></table>`
}

/** What is known of one thing: a name and a value in each row. Like `table` on a narrow screen. */
export function facts(rows: readonly (readonly [name: string, ...values: readonly Cell[]])[], caption?: string): Html {
  const values = (cells: readonly Cell[]) => cells.map(value => html`<td role="cell">${value ?? ''}</td>`)
  return html`<table class="stack facts" role="table">${caption === undefined ? undefined : html`<caption>${caption}</caption>`}
<tbody role="rowgroup">${rows.map(([name, ...cells]) => html`<tr role="row"><th scope="row" role="rowheader">${name}</th>${values(cells)}</tr>`)}</tbody></table>`
}

const maxWhole = 40

/** Text that does not break inside of its words: a name or a host of usual length. A longer one breaks where it must. */
export function whole(text: string | Html, length = String(text).length): Html {
  return length > maxWhole ? html`<span class="any">${text}</span>` : html`<span class="word">${text}</span>`
}

/** A link to an address, shown without what all of them begin with. */
export function hostLink(address: string): Html {
  const url = URL.parse(address)
  const text = url === null ? address : `${url.host}${url.pathname === '/' ? '' : url.pathname}`
  return webLink(address, whole(isWeb(url) ? text : address))
}

/** What runs: the commit where it is known, else the image, which breaks wherever it must. */
export function commitOrImage(id: string | undefined, image: string | undefined): Html {
  return commit(id) ?? html`<span class="any">${shortText(image ?? '', 80)}</span>`
}

/** The beginning of a commit id. */
export function commit(id: string | undefined): Html | undefined {
  return id === undefined || id === '' ? undefined : html`<code class="word">${id.slice(0, 12)}</code>`
}

/** In UTC, to the second. Text that is not a time is shown as it is. Within a sentence it may break between day and time. */
export function time(at: Date | string, within: 'cell' | 'sentence' = 'cell'): Html {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return html`${shortText(String(at))}`
  return html`<time${within === 'cell' && html` class="word"`} datetime="${date.toISOString()}">${date.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>`
}

/** At most 300 characters, never half of one. */
export function shortText(text: string, most = 300): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** A link to a page elsewhere, when the address is one of the web; its text otherwise. */
export function webLink(address: string, text: string | Html = address): Html {
  const url = URL.parse(address)
  return isWeb(url) ? html`<a href="${url.href}">${text}</a>` : html`${text}`
}

function isWeb(url: URL | null): url is URL {
  return url?.protocol === 'https:' || url?.protocol === 'http:'
}

/** The page of a repository on GitHub, or one below it. Names come from GitHub's answers and are encoded all the same. */
export function repositoryUrl(web: string, repository: string, ...path: readonly (string | number)[]): string {
  return [web, ...[...repository.split('/'), ...path.map(String)].map(encodeURIComponent)].join('/')
}
