// What a person chose to see of a tenant, or of all: names and states, and which page of a long list. Pure. The choice is in the
// address, so that it works without scripts, stays when the page loads again, and can be sent to somebody else. An address that
// nobody could have made by the form chooses everything.
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import { type Html, html } from '../../../web/html.ts'
import { rankOf } from './sign.ts'

/** By the word of the address: the classes of it, and the word of the form. */
export const stateChoices = {
  attention: { classes: ['failed', 'person'], says: 'needs attention' },
  waiting: { classes: ['machine', 'progress'], says: 'in progress or waiting' },
  good: { classes: ['ready', 'intended'], says: 'ready or off' },
} as const satisfies Readonly<Record<string, { readonly classes: readonly ReasonClass[]; readonly says: string }>>

/** Lists that have pages. */
export const pagedLists = ['applications', 'remotesyncs', 'tenants'] as const
export type PagedList = (typeof pagedLists)[number]

export type Choice = {
  readonly text: string
  readonly state: keyof typeof stateChoices | undefined
  /** From 1. */
  readonly pages: Readonly<Record<PagedList, number>>
}

const maxText = 63
/** A RemoteSync has more to say, above all on a narrow screen. */
const rowsOfPage: Readonly<Record<PagedList, number>> = { applications: 20, remotesyncs: 10, tenants: 50 }
const maxPage = 1000

export const everything: Choice = { text: '', state: undefined, pages: { applications: 1, remotesyncs: 1, tenants: 1 } }

export function isEverything({ text, state }: Choice): boolean {
  return text === '' && state === undefined
}

function pageIn(value: unknown): number {
  const page = typeof value === 'string' && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : 1
  return Math.min(page, maxPage)
}

/** The choice in the query of an address. */
export function choiceIn(query: Readonly<Record<string, unknown>>): Choice {
  const { name, state, applications, remotesyncs, tenants } = query
  return {
    text: typeof name === 'string' ? name.trim().slice(0, maxText) : '',
    state: typeof state === 'string' && Object.hasOwn(stateChoices, state) ? (state as keyof typeof stateChoices) : undefined,
    pages: { applications: pageIn(applications), remotesyncs: pageIn(remotesyncs), tenants: pageIn(tenants) },
  }
}

/** `?…`, or nothing for everything. */
function queryOf({ text, state, pages }: Choice): string {
  const query = new URLSearchParams()
  if (text !== '') query.set('name', text)
  if (state !== undefined) query.set('state', state)
  for (const list of pagedLists) if (pages[list] > 1) query.set(list, String(pages[list]))
  return query.size === 0 ? '' : `?${query}`
}

/** What can be chosen, or not. */
export type Chooseable = { readonly of: ReasonClass; readonly texts: readonly (string | undefined)[] }

/** Whether one of its texts contains the text, in either case, and its class is one of the state. */
export function isChosen({ text, state }: Choice, { of, texts }: Chooseable): boolean {
  const classes: readonly ReasonClass[] | undefined = state && stateChoices[state].classes
  const wanted = text.toLowerCase()
  return (classes?.includes(of) ?? true) && (wanted === '' || texts.some(one => one?.toLowerCase().includes(wanted) === true))
}

/** Those that were chosen, the ones first about which somebody has to do something; equals keep their order. */
export function chosen<T extends Chooseable>(choice: Choice, rows: readonly T[]): readonly T[] {
  return rows.filter(row => isChosen(choice, row)).toSorted((a, b) => rankOf(a.of) - rankOf(b.of))
}

/** The rows of the chosen page, or of the last one there is, and the links to the others. */
export function pageOf<T>(
  choice: Choice,
  list: PagedList,
  { rows, path }: { readonly rows: readonly T[]; readonly path: string },
): { readonly shown: readonly T[]; readonly links: Html | undefined } {
  const last = Math.max(1, Math.ceil(rows.length / rowsOfPage[list]))
  const page = Math.min(choice.pages[list], last)
  const first = (page - 1) * rowsOfPage[list]
  const shown = rows.slice(first, first + rowsOfPage[list])
  if (last === 1) return { shown, links: undefined }
  const to = (number: number, word: string): Html | undefined =>
    number < 1 || number > last
      ? undefined
      : html` <a href="${path}${queryOf({ ...choice, pages: { ...choice.pages, [list]: number } })}#${list}">${word}</a>`
  return {
    shown,
    links: html`<nav class="pages" aria-label="Pages of ${list}">${first + 1} to ${first + shown.length} of ${rows.length}${to(page - 1, 'Previous')}${to(page + 1, 'Next')}</nav>`,
  }
}

/** The form, which sends a new choice. */
export function choiceForm(path: string, { text, state }: Choice): Html {
  const option = (value: string, says: string): Html =>
    html`<option value="${value}"${(state ?? '') === value && html` selected`}>${says}</option>`
  const all = isEverything({ text, state, pages: everything.pages }) ? undefined : html` <a href="${path}">Show everything</a>`
  return html`<form method="get" action="${path}" class="filter" role="search" aria-label="Filter" id="filter">
<label>Name <input type="text" id="filter-name" name="name" maxlength="${maxText}" value="${text}"></label>
<label>State <select id="filter-state" name="state">${option('', 'any')}${Object.entries(stateChoices).map(([value, { says }]) => option(value, says))}</select></label>
<button class="quiet" id="filter-send">Filter</button>${all}</form>`
}
