// Plays attacks: a few attempts at a time, each with a time limit. An attempt that fails to run is unclear, never stopped.

import { messageOf } from '../../src/lib/errors.ts'
import { timeLimit } from '../../src/lib/waiting/limits.ts'
import type { Attack, Attempt, AttemptResult } from './attack.ts'
import { type Layer, stopped, unclear, type Verdict } from './verdict.ts'
import { NoIdToken } from './world/actors.ts'
import type { World } from './world/world.ts'

export type RunOptions = {
  readonly atOnce: number
  /** No attempt begins after it is aborted. */
  readonly signal: AbortSignal
  readonly onAttack: (name: string, results: readonly AttemptResult[]) => void
}

const patience = { short: timeLimit(60_000), long: timeLimit(280_000) }

/** Attacks that run beside each other. */
const lanes = 3

/**
 * An attack that is unclear is played once more when no more than these are: a platform that answers nobody would be asked for
 * hours.
 */
const maxRepeated = 4

export type Played = {
  /** In the order of the attacks; of an attack that was repeated, the second results. */
  readonly results: readonly AttemptResult[]
  /** What was unclear at first in an attack that was repeated. */
  readonly unclearAtFirst: readonly AttemptResult[]
}

/**
 * `onAttack` hears of each attack as it ends. An attack that is unclear, because an answer was late or lost on a busy machine,
 * is repeated once with nothing beside it; one of which an attempt succeeded never is.
 */
export async function runAttacks(world: World, attacks: readonly Attack[], options: RunOptions): Promise<Played> {
  const results = new Map<Attack, readonly AttemptResult[]>()
  const unclearAtFirst: AttemptResult[] = []
  const play = async (attack: Attack): Promise<void> => {
    const ofAttack = await playAttack(world, attack, options)
    results.set(attack, ofAttack)
    if (ofAttack.length > 0) options.onAttack(attack.name, ofAttack)
  }
  for (const group of groups(attacks)) {
    const waiting = [...group]
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !options.signal.aborted; next = waiting.shift()) await play(next)
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    // Before the next group: the last attack looks at what all others left.
    const repeated = group.filter(attack => attack.form !== 'flood' && isOnlyUnclear(results.get(attack) ?? []))
    if (repeated.length > maxRepeated) continue
    for (const attack of repeated) {
      unclearAtFirst.push(...(results.get(attack) ?? []).filter(({ outcome }) => outcome === 'unclear'))
      await play(attack)
    }
  }
  return { results: attacks.flatMap(attack => results.get(attack) ?? []), unclearAtFirst }
}

function isOnlyUnclear(results: readonly AttemptResult[]): boolean {
  return results.some(({ outcome }) => outcome === 'unclear') && results.every(({ outcome }) => outcome !== 'succeeded')
}

/** Attacks that may run beside each other, and those that run alone, in their order. */
function groups(attacks: readonly Attack[]): readonly (readonly Attack[])[] {
  const found: Attack[][] = []
  for (const [index, attack] of attacks.entries()) {
    const last = found.at(-1)
    if (last === undefined || attack.alone || attacks[index - 1]?.alone) found.push([attack])
    else last.push(attack)
  }
  return found
}

async function playAttack(world: World, attack: Attack, { atOnce, signal }: RunOptions): Promise<readonly AttemptResult[]> {
  const results: AttemptResult[] = []
  const waiting = [...(await prepare(world, attack))]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift())
      results.push(await playAttempt(attack, next))
  }
  await Promise.all(Array.from({ length: attack.form === 'flood' ? 1 : atOnce }, work))
  return results
}

/** An attack whose preparation fails, or that finds nothing to try, is one unclear attempt. */
async function prepare(world: World, attack: Attack): Promise<readonly Attempt[]> {
  try {
    const attempts = await attack.attempts(world)
    return attempts.length > 0 ? attempts : [{ name: 'preparation', run: async () => unclear('there was nothing to try') }]
  } catch (error) {
    return [{ name: 'preparation', run: async () => unclear(`it could not be prepared: ${messageOf(error)}`) }]
  }
}

async function playAttempt(attack: Attack, attempt: Attempt): Promise<AttemptResult> {
  const started = performance.now()
  const verdict = await judged(attack, attempt)
  return { attack: attack.name, attempt: attempt.name, seconds: (performance.now() - started) / 1000, ...verdict }
}

async function judged(attack: Attack, attempt: Attempt): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Verdict>(resolve => {
    const limit = attack.form === undefined ? patience.short : patience.long
    timer = setTimeout(() => resolve(unclear(`no verdict within ${limit / 1000} s`)), limit)
  })
  try {
    return expectedOnly(await Promise.race([attempt.run(), late]), attack.expected)
  } catch (error) {
    if (error instanceof NoIdToken) return expectedOnly(stopped('broker', error.message), attack.expected)
    return unclear(`the attempt failed: ${messageOf(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

/** Stopped elsewhere than expected: the attempt did not reach the layer that it was meant to try. */
export function expectedOnly(verdict: Verdict, expected: readonly Layer[]): Verdict {
  if (verdict.outcome !== 'stopped' || expected.includes(verdict.by)) return verdict
  return unclear(`stopped by ${verdict.by}, not by ${expected.join(' or ')}: ${verdict.evidence}`)
}
