// One measured outcome of a fault: checked against its bound, and stored for docs/reference/faults.md, which is generated from these files.
// An outcome outside its bound fails the test that measured it, and is stored all the same.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readClusterSettings } from '../../dev/cluster/settings.ts'

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

export type RecordedOutcome = Outcome & { readonly met: boolean; readonly date: string }

export function outcomesFolder(): string {
  return join(readClusterSettings().stateFolder, 'faults')
}

/** Stores the outcome (replacing the previous one of the same case and measure), then throws when it is outside its bounds. */
export async function recordOutcome(outcome: Outcome): Promise<void> {
  const { fault, value, unit, atMost, atLeast } = outcome
  if (atMost === undefined && atLeast === undefined) throw new Error('an outcome without a bound cannot fail')
  const met =
    Number.isFinite(value) && value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY)
  const recorded: RecordedOutcome = { ...outcome, met, date: new Date().toISOString() }
  const slug = `${outcome.case} ${outcome.measure}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 150)
  await mkdir(outcomesFolder(), { recursive: true })
  await writeFile(
    join(outcomesFolder(), `${String(fault).padStart(2, '0')}-${slug}.json`),
    `${JSON.stringify(recorded, null, 2)}\n`,
  )
  const bound = [atLeast === undefined ? '' : `at least ${atLeast}`, atMost === undefined ? '' : `at most ${atMost}`]
  if (!met)
    throw new Error(
      `fault ${fault}, ${outcome.case}: ${outcome.measure} was ${value} ${unit}, expected ${bound.filter(Boolean).join(' and ')}`,
    )
}
