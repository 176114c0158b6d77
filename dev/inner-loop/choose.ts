// Which tests answer for a word of a path: the small ones whose own path contains it, and of those that need more, what uses a
// file whose path does.
import type { Imports } from '../test/vitest/imports.ts'

/** Paths relative to the repository. */
export type Checkout = {
  /** Files that are not tests. */
  readonly sources: readonly string[]
  /** The files of tests that need nothing but a processor. */
  readonly small: readonly string[]
  /** Those that need programs, a control plane or a cluster, by what runs them. */
  readonly large: Readonly<Record<string, readonly string[]>>
}

/**
 * Of one project: `near` are named like the word or import such a file themselves, `far` use one through others, nearest first.
 */
export type Users = { readonly project: string; readonly near: readonly string[]; readonly far: readonly string[] }

export type Choice = { readonly small: readonly string[]; readonly sources: readonly string[]; readonly users: readonly Users[] }

/** Projects of which no test uses such a file are left out. */
export function choose(word: string, checkout: Checkout, imports: Imports): Choice {
  const isNamed = (file: string): boolean => file.includes(word)
  const sources = checkout.sources.filter(isNamed)
  const users = Object.entries(checkout.large).flatMap(([project, files]) => {
    const steps = new Map(files.map(file => [file, isNamed(file) ? 0 : stepsTo(sources, imports.reach(file))]))
    const stepsOf = (file: string): number => steps.get(file) ?? Number.POSITIVE_INFINITY
    const using = files.filter(file => stepsOf(file) < Number.POSITIVE_INFINITY).toSorted((a, b) => stepsOf(a) - stepsOf(b))
    const [near, far] = [using.filter(file => stepsOf(file) <= 1), using.filter(file => stepsOf(file) > 1)]
    return using.length === 0 ? [] : [{ project, near, far }]
  })
  return { small: checkout.small.filter(isNamed), sources, users }
}

function stepsTo(sources: readonly string[], steps: ReadonlyMap<string, number>): number {
  return sources.reduce(
    (least, source) => Math.min(least, steps.get(source) ?? Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  )
}
