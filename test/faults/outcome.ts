// One measured outcome of a fault: checked against its bound, and stored for docs/reference/faults.md, which is generated from
// these files. An outcome outside its bound fails the test that measured it, and is stored all the same. The short form runs
// beside a cluster that is tested on the same processors, so it fails only by a multiple of a time limit; the long form, which
// nothing stands beside, makes the figures and holds the limits.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { isLong } from '../fixtures/form.ts'

export type Outcome = {
  /** Its number in the list of faults (fault-page.ts). */
  readonly fault: number
  /** What was done to the platform: "the API server is away for 10 s". One line of the table. */
  readonly case: string
  /** What was measured: "time until the next reconcile succeeded". */
  readonly measure: string
  readonly value: number
  /** "s", "ms", "requests", "%", "MB", … */
  readonly unit: string
  /** At least one bound; both are inclusive. */
  readonly atMost?: number
  readonly atLeast?: number
}

/** `met`: within the bounds themselves, also in the short form. */
export type RecordedOutcome = Outcome & { readonly met: boolean; readonly date: string }

const timeUnits = new Set(['s', 'ms'])
const allowance = isLong('faults') ? 1 : 4

export function outcomesFolder(): string {
  return join(readClusterSettings().stateFolder, 'faults')
}

/**
 * Stores the outcome (replacing the previous one of the same case and measure), then throws when it is outside its bounds.
 * `seen`: for that error, what made the value.
 */
export async function recordOutcome(outcome: Outcome, seen?: string): Promise<void> {
  const { fault, value, unit, atMost, atLeast } = outcome
  if (atMost === undefined && atLeast === undefined) throw new Error('an outcome without a bound cannot fail')
  const failsAbove = atMost === undefined || !timeUnits.has(unit) ? atMost : atMost * allowance
  const recorded: RecordedOutcome = { ...outcome, met: isWithin(value, atLeast, atMost), date: new Date().toISOString() }
  const slug = `${outcome.case} ${outcome.measure}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 150)
  await mkdir(outcomesFolder(), { recursive: true })
  await writeFile(
    join(outcomesFolder(), `${String(fault).padStart(2, '0')}-${slug}.json`),
    `${JSON.stringify(recorded, null, 2)}\n`,
  )
  const bound = [atLeast === undefined ? '' : `at least ${atLeast}`, failsAbove === undefined ? '' : `at most ${failsAbove}`]
  const because = seen === undefined ? '' : `: ${seen}`
  if (!isWithin(value, atLeast, failsAbove))
    throw new Error(
      `fault ${fault}, ${outcome.case}: ${outcome.measure} was ${value} ${unit}, expected ${bound.filter(Boolean).join(' and ')}${because}`,
    )
}

function isWithin(value: number, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY): boolean {
  return Number.isFinite(value) && value >= atLeast && value <= atMost
}
