// The one loop of the product for periodic work: it starts, survives failures, and stops on request. It never runs two rounds
// at once. It must not be the only reason why something happens soon: use events for that.
import type { Clock } from './clock.ts'
import { messageOf } from './errors.ts'
import { type Log, redactTokens } from './log.ts'

export type Periodic = {
  /** Begins the first round now, or after the interval with `waitsFirst`. A second call changes nothing. */
  readonly start: () => void
  /** Ends the current wait, so that the next round begins at once; while a round is in progress, another one follows it. */
  readonly wake: () => void
  /** Aborts the round's signal and resolves when the round in progress has ended. Also before `start`. */
  readonly stop: () => Promise<void>
}

export type PeriodicOptions = {
  /** What the work is, for the log line of a failed round, such as `token desk sweep`. */
  readonly name: string
  /** From the end of a round to the beginning of the next. */
  readonly everyMilliseconds: number
  /** One round. A rejection is logged, and the next round comes as usual. */
  readonly work: (signal: AbortSignal) => Promise<unknown>
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Pick<Log, 'error'>
  /** Rounds are left out while this is false: on a replica that does not lead. */
  readonly enabled?: () => boolean
  /** The work was done just before the loop starts. */
  readonly waitsFirst?: boolean
}

/** A loop that runs nothing before `start`. */
export function periodic(options: PeriodicOptions): Periodic {
  const { clock, log, enabled = () => true } = options
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  let running: Promise<void> | undefined

  const pause = async (): Promise<void> => {
    const waiting = new AbortController()
    // The wait may reject, because `wake` and `stop` end it early.
    await Promise.race([clock.sleep(options.everyMilliseconds, waiting.signal).catch(() => undefined), woken.promise])
    waiting.abort('over')
  }

  const round = async (): Promise<void> => {
    try {
      if (enabled()) await options.work(stopping.signal)
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ error: redactTokens(messageOf(error)) }, `${options.name} failed`)
    }
  }

  const loop = async (): Promise<void> => {
    if (options.waitsFirst) await pause()
    while (!stopping.signal.aborted) {
      woken = Promise.withResolvers()
      await round()
      if (!stopping.signal.aborted) await pause()
    }
  }

  return {
    start() {
      running ??= loop()
    },
    wake: () => woken.resolve(),
    async stop() {
      stopping.abort('stopped')
      woken.resolve()
      await running
    },
  }
}
