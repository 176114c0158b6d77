// The progress that a user sees: one line per step on standard error, with the time since the start,
// and a line every ten seconds while a step runs. It never writes to standard output.
const heartbeatMilliseconds = 10_000

export type Progress = {
  readonly note: (message: string) => void
  /** Runs a step and reports how long it took or that it failed. */
  readonly step: <T>(name: string, run: () => Promise<T>) => Promise<T>
}

export function createProgress(write: (line: string) => void, now: () => number = () => performance.now()): Progress {
  const begin = now()
  const seconds = (since: number): string => `${((now() - since) / 1000).toFixed(1)} s`
  const note = (message: string): void => write(`[${seconds(begin).padStart(8)}] ${message}\n`)
  return {
    note,
    step: async (name, run) => {
      const started = now()
      const heartbeat = setInterval(() => note(`${name} … still running after ${seconds(started)}`), heartbeatMilliseconds)
      try {
        const result = await run()
        note(`${name} (${seconds(started)})`)
        return result
      } catch (error) {
        note(`${name} FAILED after ${seconds(started)}`)
        throw error
      } finally {
        clearInterval(heartbeat)
      }
    },
  }
}

export function standardErrorProgress(): Progress {
  return createProgress(line => process.stderr.write(line))
}

export const silentProgress: Progress = { note: () => {}, step: (_name, run) => run() }
