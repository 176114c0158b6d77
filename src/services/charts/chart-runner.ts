// One request at a time to something that runs charts: a thread (chart-thread.ts) or a process (chart-process.ts). Owns the
// times and the outcome: whatever happens on the other side, each request has exactly one outcome, and after a timeout the
// other side is ended.
import type { ChartOutcome, WorkerRequest } from './chart-input.ts'

/** Not for concurrent use: the renderer sends the next request after the outcome of the last. */
export type ChartRunner = {
  /**
   * Resolves within the timeout (in milliseconds); the first request also waits until the other side has started. Never
   * rejects.
   */
  readonly run: (request: WorkerRequest, timeoutMilliseconds: number) => Promise<ChartOutcome>
  readonly alive: () => boolean
  /** Ends it; may be called again. */
  readonly end: () => Promise<void>
}

/** How the other side is reached. */
export type ChartTransport = {
  readonly send: (request: WorkerRequest) => void
  readonly kill: () => Promise<void>
}

/** What the transport reports. */
export type ChartReports = {
  /** It takes requests from now on. */
  readonly ready: () => void
  /** The outcome of the request in progress; without one it is ignored. */
  readonly answered: (outcome: ChartOutcome) => void
  /** It has ended, with a line for people; the first report counts. */
  readonly ended: (message: string) => void
}

/** Loading cdk8s takes a third of a second on an idle machine; this only catches what hangs while it starts. */
const startMilliseconds = 60_000

/** `connect` starts the other side at once; its reports may come at any time. */
export function createChartRunner(connect: (reports: ChartReports) => ChartTransport): ChartRunner {
  let ready = false
  let endedBy: string | undefined
  let onReady: () => void = () => {}
  /** Settles the request in progress; there is at most one. */
  let settle: (outcome: ChartOutcome) => void = () => {}

  const transport = connect({
    ready() {
      ready = true
      onReady()
    },
    answered: outcome => settle(outcome),
    ended(message) {
      endedBy ??= message
      settle({ kind: 'failed', message: endedBy })
    },
  })

  async function end(): Promise<void> {
    endedBy ??= 'the chart was ended'
    await transport.kill()
  }

  /** One bounded wait: `begin` starts the work, whose outcome, or the end of the other side, calls `settle`. */
  async function wait(begin: () => void, milliseconds: number, late: ChartOutcome): Promise<ChartOutcome> {
    if (endedBy !== undefined) return { kind: 'failed', message: endedBy }
    const outcome = Promise.withResolvers<ChartOutcome>()
    settle = outcome.resolve
    const timer = setTimeout(() => outcome.resolve(late), milliseconds)
    try {
      begin()
      return await outcome.promise
    } finally {
      clearTimeout(timer)
      settle = () => {}
    }
  }

  async function started(): Promise<ChartOutcome> {
    const begin = (): void => {
      onReady = () => settle({ kind: 'rendered', objects: [], length: 0 })
    }
    const late = { kind: 'timed-out', message: 'what runs charts did not start in time' } as const
    return wait(begin, startMilliseconds, late)
  }

  return {
    alive: () => endedBy === undefined,
    end,
    async run(request, timeoutMilliseconds) {
      const start = ready ? undefined : await started()
      if (start?.kind === 'timed-out') await end()
      if (start !== undefined && start.kind !== 'rendered') return start
      const late: ChartOutcome = { kind: 'timed-out', message: `the chart did not return within ${timeoutMilliseconds / 1000} s` }
      const outcome = await wait(() => transport.send(request), timeoutMilliseconds, late)
      if (outcome.kind === 'timed-out') await end()
      return outcome
    },
  }
}
