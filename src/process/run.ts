// Runs a process until SIGTERM or SIGINT, then stops its parts in reverse order of their start, within a time limit. The one
// shutdown path: an error at the start is reported on standard error, what was started by then is stopped, and the process
// exits with 1.
import { AppError, messageOf } from '../lib/errors.ts'
import { redactTokens } from '../lib/log.ts'

export type Stop = () => Promise<void> | void

const stopMilliseconds = 40_000

function report(error: unknown): void {
  // Configuration errors are written for people; other errors need their stack.
  const text = error instanceof AppError || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message)
  process.stderr.write(`${redactTokens(text)}\n`)
}

/**
 * `start` passes the stop function of every part to `onStop` as soon as the part is started. A signal during `start` does not
 * wait for it; a second signal exits at once with 1. A stop function that fails is reported, the others still run, and the exit
 * code is 1. Never returns.
 */
export async function runUntilStopped(start: (onStop: (stop: Stop) => void) => Promise<void>): Promise<void> {
  const stops: Stop[] = []
  const signalled = Promise.withResolvers<void>()
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      signals += 1
      if (signals > 1) process.exit(1)
      signalled.resolve()
    })

  let exitCode = 0
  const attempt = async (work: Stop): Promise<void> => {
    try {
      await work()
    } catch (error) {
      exitCode = 1
      report(error)
    }
  }
  const run = async (): Promise<void> => {
    await start(stop => stops.push(stop))
    await signalled.promise
  }
  await attempt(() => Promise.race([run(), signalled.promise]))
  setTimeout(() => {
    report(new AppError('unavailable', `the process did not stop within ${stopMilliseconds / 1000} s`))
    process.exit(1)
  }, stopMilliseconds).unref()
  for (const stop of stops.toReversed()) await attempt(stop)
  process.exit(exitCode)
}
