// One worker thread that runs charts: starts it, gives it one request at a time, ends it when it breaks a limit.
// After a time-out, an error or an exit the thread is dead (`alive()` is false) and its request has an outcome; it never rejects.
import { Worker } from 'node:worker_threads'
import type { ChartOutcome, WorkerAnswer, WorkerRequest } from './chart-input.ts'

export type ChartThread = {
  readonly run: (request: WorkerRequest, timeoutMilliseconds: number) => Promise<ChartOutcome>
  readonly alive: () => boolean
  readonly end: () => Promise<void>
}

/** Loading cdk8s takes a third of a second on a quiet machine; this only catches a thread that hangs before it can say so. */
const startMilliseconds = 60_000

function deathMessage(error: unknown, heapMegabytes: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `the chart used more than ${heapMegabytes} MB of memory`
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? error.name).slice(0, 500) : 'the chart ended its thread'
}

function parseObjects(json: string): ChartOutcome {
  const objects: unknown = JSON.parse(json)
  return Array.isArray(objects)
    ? { kind: 'rendered', objects, length: json.length }
    : { kind: 'failed', message: 'chart must return an array of Kubernetes objects' }
}

/** Starts a thread; the first request waits until it is up, and that wait does not count against the chart. */
export function startChartThread(options: { readonly heapMegabytes: number }): ChartThread {
  const worker = new Worker(new URL('./render-worker.ts', import.meta.url), {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes, maxYoungGenerationSizeMb: 32 },
  })
  worker.stdout.resume()
  worker.stderr.resume()
  let alive = true
  let up = false
  let onUp: () => void = () => {}
  /** Settles the request under way; there is at most one. */
  let settle: (outcome: ChartOutcome) => void = () => {}
  let death = 'the chart ended its thread'

  worker.on('message', (answer: WorkerAnswer) => {
    if (answer.kind === 'ready') {
      up = true
      onUp()
    } else if (answer.kind === 'rendered') settle(parseObjects(answer.json))
    else if (answer.kind === 'failed') settle({ kind: 'failed', message: answer.message })
    // Anything else is Node's own (watch mode lets threads report what they load).
  })
  worker.on('error', error => die(deathMessage(error, options.heapMegabytes)))
  worker.on('exit', () => die(death))

  function die(message: string): void {
    alive = false
    death = message
    settle({ kind: 'failed', message })
  }

  async function end(): Promise<void> {
    alive = false
    await worker.terminate()
  }

  /** One bounded wait: `begin` starts the work, whose outcome (or death) calls `settle`. */
  async function wait(begin: () => void, milliseconds: number, late: ChartOutcome): Promise<ChartOutcome> {
    if (!alive) return { kind: 'failed', message: death }
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

  return {
    alive: () => alive,
    end,
    async run(request, timeoutMilliseconds) {
      if (!up) {
        const begin = (): void => {
          onUp = () => settle({ kind: 'rendered', objects: [], length: 0 })
        }
        const started = await wait(begin, startMilliseconds, {
          kind: 'timed-out',
          message: 'the thread for charts did not start in time',
        })
        if (started.kind === 'timed-out') await end()
        if (started.kind !== 'rendered') return started
      }
      const late: ChartOutcome = { kind: 'timed-out', message: `the chart did not return within ${timeoutMilliseconds / 1000} s` }
      const outcome = await wait(() => worker.postMessage(request), timeoutMilliseconds, late)
      if (outcome.kind === 'timed-out') await end()
      return outcome
    },
  }
}
