// Pagination by page number with Link headers.
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
import type { RestAnswer } from './answer.ts'

function whole(text: string | null, fallback: number, most: number): number {
  if (text === null || !/^\d{1,9}$/.test(text)) return fallback
  return Math.min(Math.max(Number(text), 1), most)
}

/** The size of a page: 30 by default, 100 at most. */
export function perPage(query: URLSearchParams): number {
  return whole(query.get('per_page'), 30, 100)
}

/** The position of the request in a list, and the URL of a list with its own query. */
export type Paging = { readonly url: string; readonly query: URLSearchParams }

function linkHeader(paging: Paging, page: number, last: number): string | undefined {
  const at = (number: number): string => {
    const query = new URLSearchParams(paging.query)
    query.set('page', String(number))
    return `<${paging.url}?${query.toString()}>`
  }
  const links = [
    ...(page > 1 ? [`${at(page - 1)}; rel="prev"`] : []),
    ...(page < last ? [`${at(page + 1)}; rel="next"`, `${at(last)}; rel="last"`] : []),
    ...(page > 1 ? [`${at(1)}; rel="first"`] : []),
  ]
  return links.length === 0 ? undefined : links.join(', ')
}

/** One page of `items`, rendered by `show`; `wrap` puts the page into an object with a total count where GitHub has one. */
export function paged<Item>(
  paging: Paging,
  items: readonly Item[],
  show: (item: Item) => unknown,
  wrap: (page: readonly unknown[], total: number) => unknown = page => page,
): RestAnswer {
  const size = perPage(paging.query)
  const page = whole(paging.query.get('page'), 1, 1_000_000)
  const last = Math.max(1, Math.ceil(items.length / size))
  const shown = items.slice((page - 1) * size, page * size).map(show)
  const link = linkHeader(paging, page, last)
  return { status: 200, body: wrap(shown, items.length), ...(link === undefined ? {} : { headers: { link } }) }
}
