// The beginning of a list, for pages: nothing that an outsider sizes is shown whole. Pure.
import { compareText } from '../../lib/text/compare-text.ts'

/** `more`: there are others. */
export type Bounded<T> = { readonly items: readonly T[]; readonly more: boolean }

/** The first `most` of them. */
export function bounded<T>(items: readonly T[], most: number): Bounded<T> {
  return { items: items.slice(0, most), more: items.length > most }
}

/** In the order of names, as the API server lists. */
export function byName<T extends { readonly metadata: { readonly name: string } }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
}
