// Runs a process and ends it in order: SIGTERM and SIGINT stop what was started, last first, within a limit. An error at the start is told
// on standard error, what was started by then is stopped, and the process ends with 1. Used by `main.ts` files only.
import { AppError, messageOf } from '../lib/errors.ts'
import { redactTokens } from '../lib/log.ts'

type Stop = () => Promise<void> | void

const stopMilliseconds = 40_000

function tell(error: unknown): void {
  // Configuration errors are written for people; for others the stack says where.
  const text = error instanceof AppError || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message)
  process.stderr.write(`${redactTokens(text)}\n`)
}

/** `start` hands every started part to `stopping` as soon as it runs. A second signal ends the process at once. */
export async function runUntilStopped(start: (stopping: (stop: Stop) => void) => Promise<void>): Promise<void> {
  const started: Stop[] = []
  const signalled = Promise.withResolvers<void>()
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      signals += 1
      if (signals > 1) process.exit(1)
      signalled.resolve()
    })

  let failed = false
  const attempt = async (work: () => Promise<void> | void): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failed = true
      tell(error)
    }
  }
  await attempt(() => start(stop => started.push(stop)))
  if (!failed) await signalled.promise
  setTimeout(() => {
    tell(new AppError('unavailable', 'stopping took too long'))
    process.exit(1)
  }, stopMilliseconds).unref()
  for (const stop of started.toReversed()) await attempt(stop)
  process.exit(failed ? 1 : 0)
}
