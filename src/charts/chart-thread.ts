// One worker thread that runs charts: starts it, sends it one request at a time, and terminates it when a chart exceeds its time.
// After a timeout, an error or an exit the thread has ended (`alive()` is false) and its request has an outcome; it never rejects.
import { Worker } from 'node:worker_threads'
import type { ChartOutcome, WorkerAnswer, WorkerRequest } from './chart-input.ts'

/** Not for concurrent use: the renderer sends the next request after the outcome of the last. */
export type ChartThread = {
  /** One request at a time. Resolves within the timeout (in milliseconds); the first request also waits until the thread has started. */
  readonly run: (request: WorkerRequest, timeoutMilliseconds: number) => Promise<ChartOutcome>
  readonly alive: () => boolean
  /** Terminates the thread; may be called again. */
  readonly end: () => Promise<void>
}

const unexpectedExit = 'the chart ended its thread'

/** Loading cdk8s takes a third of a second on an idle machine; this only catches a thread that hangs while it starts. */
const startMilliseconds = 60_000

function endMessage(error: unknown, heapMegabytes: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `the chart used more than ${heapMegabytes} MB of memory`
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? error.name).slice(0, 500) : unexpectedExit
}

function parseObjects(json: string): ChartOutcome {
  const objects: unknown = JSON.parse(json)
  return Array.isArray(objects)
    ? { kind: 'rendered', objects, length: json.length }
    : { kind: 'failed', message: 'chart must return an array of Kubernetes objects' }
}

/** Starts a thread. The first request waits until the thread is ready; that wait does not count towards the chart's timeout. */
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
  let ready = false
  let onReady: () => void = () => {}
  /** Settles the request in progress; there is at most one. */
  let settle: (outcome: ChartOutcome) => void = () => {}
  let endedBy = unexpectedExit

  worker.on('message', (answer: WorkerAnswer) => {
    if (answer.kind === 'ready') {
      ready = true
      onReady()
    } else if (answer.kind === 'rendered') settle(parseObjects(answer.json))
    else if (answer.kind === 'failed') settle({ kind: 'failed', message: answer.message })
    // Anything else is from Node.js: in watch mode threads report what they load.
  })
  worker.on('error', error => ended(endMessage(error, options.heapMegabytes)))
  worker.on('exit', () => ended(endedBy))

  function ended(message: string): void {
    alive = false
    endedBy = message
    settle({ kind: 'failed', message })
  }

  async function end(): Promise<void> {
    alive = false
    await worker.terminate()
  }

  /** One bounded wait: `begin` starts the work, whose outcome, or the end of the thread, calls `settle`. */
  async function wait(begin: () => void, milliseconds: number, late: ChartOutcome): Promise<ChartOutcome> {
    if (!alive) return { kind: 'failed', message: endedBy }
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
      if (!ready) {
        const begin = (): void => {
          onReady = () => settle({ kind: 'rendered', objects: [], length: 0 })
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
