// Runs charts in worker threads with limits on time, memory and size. Owns the threads; never runs chart code in the main thread.
// Each worker keeps one warm thread for built-in charts; a chart from a ConfigMap gets a fresh thread each time, so that no rendering sees
// what an earlier one left behind. Requests beyond the number of workers wait for their tenant's turn.
import { AppError } from '../lib/errors.ts'
import type { ChartInput, ChartOutcome, ChartSource } from './chart-input.ts'
import { type ChartThread, startChartThread } from './chart-thread.ts'
import { createWorkerTurns } from './worker-turns.ts'

/** The port of this service. */
export type ChartRenderer = {
  /** Never rejects for what a chart does; rejects with `unavailable` after `stop`. The timeout does not include the wait for a worker. */
  readonly render: (chart: ChartSource, input: ChartInput, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Loads the chart without calling it: does its module parse, and does it export `chart`? Resolves and rejects as `render`. */
  readonly check: (chart: ChartSource, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Starts the first thread, so that the first Application does not wait for it. */
  readonly warmUp: () => void
  /** Terminates all threads; renderings in progress fail. */
  readonly stop: () => Promise<void>
}

export type RendererOptions = {
  /** Renderings that run at once, of one tenant all but one. Default 3. */
  readonly workers?: number
  /** Of one thread. Default 256. */
  readonly heapMegabytes?: number
  /** The longest JSON text of one rendering, in UTF-16 units. Default 1,048,576. */
  readonly longestAnswer?: number
}

/** Checks are the platform's own; no namespace has this name. */
const platform = ''

type ChartWorker = { warm: ChartThread | undefined; current: ChartThread | undefined }

/** Starts no thread before `warmUp` or the first request. */
export function createChartRenderer(options: RendererOptions = {}): ChartRenderer {
  const { heapMegabytes = 256, longestAnswer = 1_048_576 } = options
  const workerCount = options.workers ?? 3
  const idle: ChartWorker[] = Array.from({ length: workerCount }, () => ({ warm: undefined, current: undefined }))
  const workers = [...idle]
  const turns = createWorkerTurns(workerCount)
  let nextId = 1
  let stopped = false

  function threadFor(worker: ChartWorker, chart: ChartSource): ChartThread {
    if (chart.kind === 'module') return startChartThread({ heapMegabytes })
    if (!worker.warm?.alive()) worker.warm = startChartThread({ heapMegabytes })
    return worker.warm
  }

  async function run(chart: ChartSource, input: ChartInput | 'check', timeoutMilliseconds: number): Promise<ChartOutcome> {
    const turn = await turns.acquire(input === 'check' ? platform : input.namespace)
    // There is one for every turn. The last one that was used: its thread is warm.
    const worker = idle.pop() ?? { warm: undefined, current: undefined }
    try {
      if (stopped) throw new AppError('unavailable', 'the chart renderer has stopped')
      const thread = threadFor(worker, chart)
      worker.current = thread
      const outcome = await thread.run({ id: nextId++, chart, input, longestAnswer }, timeoutMilliseconds)
      if (chart.kind === 'module') await thread.end()
      return outcome
    } finally {
      worker.current = undefined
      idle.push(worker)
      turn.done()
    }
  }

  return {
    render: run,
    check: (chart, timeoutMilliseconds) => run(chart, 'check', timeoutMilliseconds),
    warmUp() {
      const worker = idle.at(-1)
      if (worker && !stopped) worker.warm ??= startChartThread({ heapMegabytes })
    },
    async stop() {
      stopped = true
      await Promise.all(workers.flatMap(worker => [worker.warm?.end(), worker.current?.end()]))
    },
  }
}
