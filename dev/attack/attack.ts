// What an attack is: data that says who tries what against whom, and one function that lists its single attempts.
import type { Layer, Verdict } from './verdict.ts'
import type { World } from './world/world.ts'

export type Attempt = { readonly name: string; readonly run: () => Promise<Verdict> }

/** What an attack says about itself, for the list and the reference page. */
export type AttackDescription = {
  /** `family/what`. */
  readonly name: string
  readonly as: string
  readonly against: string
  /** One sentence. */
  readonly tries: string
  /** An attempt that another layer stops is unclear: it did not reach what it was meant to try. */
  readonly expected: readonly Layer[]
  /** The published advisory of another product that this repeats. */
  readonly peer?: string
  /** `long` attacks build images and are left out of the short form; `flood` is played with `--floods` only. */
  readonly form?: 'long' | 'flood'
}

export type Attack = AttackDescription & {
  /** Nothing else runs beside it: it floods, uses up a limit, or looks at what all others left. */
  readonly alone?: true
  readonly attempts: (world: World) => readonly Attempt[] | Promise<readonly Attempt[]>
}

export type AttemptResult = { readonly attack: string; readonly attempt: string; readonly seconds: number } & Verdict

/** Attempts on one object: each begins when the one before has ended. */
export function inTurn(attempts: readonly Attempt[]): readonly Attempt[] {
  let before: Promise<unknown> = Promise.resolve()
  return attempts.map(({ name, run }) => ({
    name,
    run() {
      const verdict = before.then(run)
      before = verdict.catch(() => {}) // the runner sees the failure of this attempt; the next one runs all the same
      return verdict
    },
  }))
}

/** `end` follows the last of the attempts, whatever became of them: it gives back what all of them share. */
export function endingWith(attempts: readonly Attempt[], end: () => Promise<unknown>): readonly Attempt[] {
  let left = attempts.length
  return attempts.map(({ name, run }) => ({
    name,
    async run() {
      try {
        return await run()
      } finally {
        left -= 1
        if (left === 0) await end()
      }
    },
  }))
}
