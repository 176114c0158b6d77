// Starts a process and ends it in order: SIGTERM and SIGINT stop what was started, within a limit; an error at the start is told once
// on standard error and ends the process with 1. Used by the `main.ts` files only.
import { AppError, messageOf } from '../lib/errors.ts'
import { redactTokens } from '../lib/log.ts'

const stopMilliseconds = 40_000

function tell(message: string): void {
  process.stderr.write(`${redactTokens(message)}\n`)
}

/** `start` returns how to stop. A second signal ends the process at once. */
export async function runUntilStopped(start: () => Promise<() => Promise<void>>): Promise<void> {
  const signalled = Promise.withResolvers<void>()
  const onSignal = (): void => {
    signalled.resolve()
    process.once('SIGTERM', () => process.exit(1))
    process.once('SIGINT', () => process.exit(1))
  }
  process.once('SIGTERM', onSignal)
  process.once('SIGINT', onSignal)
  try {
    const stop = await start()
    await signalled.promise
    setTimeout(() => {
      tell('stopping took too long')
      process.exit(1)
    }, stopMilliseconds).unref()
    await stop()
    process.exit(0)
  } catch (error) {
    // Configuration errors are written for people; for others the stack says where.
    tell(
      error instanceof AppError ? error.message : error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error),
    )
    process.exit(1)
  }
}
