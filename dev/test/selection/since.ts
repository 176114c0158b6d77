// Since when something counts as changed: what SEKISHO_TEST_BASE says, else the commit on which it passed last.

import type { Environment } from '../../../src/lib/config.ts'
import { compareText } from '../../../src/lib/text/compare-text.ts'
import { type PartRecords, wholeRun } from '../long/records.ts'
import type { Bases, Since, SincePart } from './decide-cases.ts'
import { type Changes, changesSince, type Git, upstreamBase } from './git-changes.ts'

/** The variable with a commit; CI may set it to the last one on which everything passed. */
export const baseVariable = 'SEKISHO_TEST_BASE'

type Facts = { readonly git: Git; readonly records: PartRecords; readonly environment: Environment }

/** Of each part of `make test-long`. What a whole `make test` played since counts as played. */
export async function sinceParts(parts: readonly string[], { git, records, environment }: Facts): Promise<Bases> {
  const given = environment[baseVariable] || undefined
  const whole = records[wholeRun]
  const recorded = parts.map(part => {
    const own = records[part]
    const isOlder = whole !== undefined && (own === undefined || compareText(own.at, whole.at) < 0)
    return { part, long: given ?? own?.commit, played: given ?? (isOlder ? whole : own)?.commit }
  })
  const changes = new Map<string, Changes>()
  for (const base of new Set(recorded.flatMap(({ long, played }) => [long, played])))
    if (base !== undefined) changes.set(base, await changesSince(base, git))
  const sinceOf = (base: string | undefined): Since => {
    if (base === undefined) return { base, why: 'it has not passed yet' }
    return { base, changes: changes.get(base) ?? { unknown: `nothing is known of ${base}` } }
  }
  const of =
    (form: keyof Bases): SincePart =>
    part =>
      sinceOf(recorded.find(one => one.part === part)?.[form])
  return { long: of('long'), played: of('played') }
}

/** Since the last whole `make test`. */
export async function sinceWholeRun({ git, records, environment }: Facts): Promise<Since> {
  const base = (environment[baseVariable] || undefined) ?? records[wholeRun]?.commit
  if (base === undefined) return { base, why: 'no run of everything has passed yet' }
  return { base, changes: await changesSince(base, git) }
}

/**
 * For `CHANGED=1`: where this branch left its upstream, else the newest record, else the commit itself, whose work tree may
 * differ.
 */
export async function sinceForChanged({ git, records, environment }: Facts): Promise<Since> {
  const newest = Object.values(records).toSorted((a, b) => compareText(b.at, a.at))[0]
  const base = (environment[baseVariable] || undefined) ?? (await upstreamBase(git)) ?? newest?.commit ?? 'HEAD'
  return { base, changes: await changesSince(base, git) }
}
