// What the program prints: one line for each attack, one for each attempt that was not stopped, and the summary. Pure.
import type { AttemptResult } from './attack.ts'
import type { Played } from './run.ts'

export type Summary = {
  readonly attacks: number
  readonly attempts: number
  readonly stopped: number
  readonly stoppedBy: Readonly<Record<string, number>>
  readonly succeeded: number
  readonly unclear: number
}

export function summarize(results: readonly AttemptResult[]): Summary {
  const stoppedBy: Record<string, number> = {}
  for (const result of results) if (result.outcome === 'stopped') stoppedBy[result.by] = (stoppedBy[result.by] ?? 0) + 1
  const count = (outcome: AttemptResult['outcome']): number => results.filter(result => result.outcome === outcome).length
  return {
    attacks: new Set(results.map(({ attack }) => attack)).size,
    attempts: results.length,
    stopped: count('stopped'),
    stoppedBy,
    succeeded: count('succeeded'),
    unclear: count('unclear'),
  }
}

/** Attempts that are shown of one attack. */
const maxLines = 8

function layersOf(stoppedBy: Readonly<Record<string, number>>): string {
  return Object.entries(stoppedBy)
    .sort(([, a], [, b]) => b - a)
    .map(([layer, count]) => `${layer} ${count}`)
    .join(', ')
}

/** `stopped   services/external-ips   31 attempts: admission 31`, and below it each attempt that was not stopped. */
export function attackLines(name: string, results: readonly AttemptResult[]): string {
  const { attempts, stopped, stoppedBy, succeeded, unclear } = summarize(results)
  const outcome = succeeded > 0 ? 'SUCCEEDED' : unclear > 0 ? 'UNCLEAR' : 'stopped'
  const stops = stopped > 0 ? `stopped by ${layersOf(stoppedBy)}` : 'none stopped'
  const open = results.filter(result => result.outcome !== 'stopped')
  const others = open
    .toSorted((a, b) => a.outcome.localeCompare(b.outcome))
    .slice(0, maxLines)
    .map(
      ({ outcome: what, attempt, evidence }) =>
        `            ${what === 'succeeded' ? 'SUCCEEDED' : 'UNCLEAR'}  ${attempt}\n                       ${evidence}`,
    )
  const measured = results.flatMap(result => (result.measured ?? []).map(line => `            ${line}`))
  const more = open.length > maxLines ? [`            and ${open.length - maxLines} more: -o json has them all`] : []
  return [
    `${outcome.padEnd(10)}  ${name.padEnd(34)} ${String(attempts).padStart(3)} tried; ${stops}`,
    ...measured,
    ...others,
    ...more,
  ].join('\n')
}

/** The goal for all attacks without `--floods`. */
const maxSeconds = 360

/** Names the goal when a run took longer; nothing for a run with floods of a minute each, which has none. */
export function goalLines(seconds: number, floods: boolean): readonly string[] {
  if (floods || seconds <= maxSeconds) return []
  return [`slow: ${seconds.toFixed(0)} s, and the goal of all attacks without floods is at most ${maxSeconds} s`]
}

export function summaryText(summary: Summary, seconds: number): string {
  const { attacks, attempts, stopped, stoppedBy, succeeded, unclear } = summary
  return [
    `${attempts} attempts of ${attacks} attacks in ${seconds.toFixed(0)} s: ${stopped} stopped, ${succeeded} succeeded, ${unclear} unclear`,
    ...(stopped > 0 ? [`stopped by: ${layersOf(stoppedBy)}`] : []),
  ].join('\n')
}

/**
 * A line for each attempt that was not stopped, and for each that was unclear only at first: what `make test` repeats in its
 * last lines.
 */
export function outcomeLines({ results, unclearAtFirst }: Played): readonly string[] {
  const line = (outcome: string) => (result: AttemptResult) =>
    `${outcome}: ${result.attack} > ${result.attempt}: ${result.outcome}: ${result.evidence}`
  const open = results.filter(({ outcome }) => outcome !== 'stopped')
  const attacks = new Set(open.map(({ attack }) => attack))
  return [...open.map(line('failed')), ...unclearAtFirst.filter(({ attack }) => !attacks.has(attack)).map(line('flaky'))]
}
