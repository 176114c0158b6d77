// Since when something counts as changed: what SEKISHO_TEST_BASE says, else the commit on which the long form passed last.

import type { Environment } from '../../../src/lib/config.ts'
import { compareText } from '../../../src/lib/text/compare-text.ts'
import type { PartRecords } from '../long/records.ts'
import type { Since, SincePart } from './decide-cases.ts'
import { changesSince, type Git, upstreamBase } from './git-changes.ts'

/** The variable with a commit; CI may set it to the last one on which everything passed. */
export const baseVariable = 'SEKISHO_TEST_BASE'

/** Of each part of `make test-long`. */
export async function sinceParts(
  parts: readonly string[],
  { git, records, environment }: { readonly git: Git; readonly records: PartRecords; readonly environment: Environment },
): Promise<SincePart> {
  const given = environment[baseVariable] || undefined
  const known = new Map<string, Since>()
  for (const part of parts) {
    const base = given ?? records[part]?.commit
    known.set(
      part,
      base === undefined ? { base, why: 'it has not passed yet' } : { base, changes: await changesSince(base, git) },
    )
  }
  return part => known.get(part) ?? { base: undefined, why: `there is no part ${part}` }
}

/**
 * For `CHANGED=1`: where this branch left its upstream, else the newest record, else the commit itself, whose work tree may
 * differ.
 */
export async function sinceForChanged({
  git,
  records,
  environment,
}: {
  readonly git: Git
  readonly records: PartRecords
  readonly environment: Environment
}): Promise<Since> {
  const newest = Object.values(records).toSorted((a, b) => compareText(b.at, a.at))[0]
  const base = (environment[baseVariable] || undefined) ?? (await upstreamBase(git)) ?? newest?.commit ?? 'HEAD'
  return { base, changes: await changesSince(base, git) }
}
