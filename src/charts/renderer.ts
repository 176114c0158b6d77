// Runs charts with limits on time, memory and size. Owns the threads and processes; never runs chart code in the main thread.
// Each worker keeps a thread for built-in charts as long as it is used, because it holds much memory. A chart from a ConfigMap gets a process of its
// own each time, without rights, and no rendering sees what an earlier one left behind. Requests beyond the number of workers wait for their
// tenant's turn.
import { AppError } from '../lib/errors.ts'
import { createFairTurns } from '../policy/fair-turns.ts'
import type { ChartInput, ChartOutcome, ChartSource } from './chart-input.ts'
import { startChartProcess } from './chart-process.ts'
import type { ChartRunner } from './chart-runner.ts'
import { startChartThread } from './chart-thread.ts'

/** The port of this service. */
export type ChartRenderer = {
  /** Never rejects for what a chart does; rejects with `unavailable` after `stop`. The timeout does not include the wait for a worker. */
  readonly render: (chart: ChartSource, input: ChartInput, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Loads the chart without calling it: does its module parse, and does it export `chart`? Resolves and rejects as `render`. */
  readonly check: (chart: ChartSource, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Starts a thread when none is warm, and keeps one warm for a while: the next rendering does not wait a third of a second for it. */
  readonly warmUp: () => void
  /** Ends all threads and processes; renderings in progress fail. */
  readonly stop: () => Promise<void>
}

export type RendererOptions = {
  /** Renderings that run at once, of one tenant all but one. Default 3. */
  readonly workers?: number
  /** Of one thread or process. Default 256. */
  readonly heapMegabytes?: number
  /** The longest JSON text of one rendering, in UTF-16 units. Default 1,048,576. */
  readonly longestAnswer?: number
  /** A thread that was not used for so long ends: each holds about 50 MB. Default one minute. */
  readonly idleMilliseconds?: number
}

/** Checks are the platform's own; no namespace has this name. */
const platform = ''

type ChartWorker = { warm: ChartRunner | undefined; current: ChartRunner | undefined; usedAt: number }

const newWorker = (): ChartWorker => ({ warm: undefined, current: undefined, usedAt: 0 })

/** Starts no thread before `warmUp` or the first request. */
export function createChartRenderer(options: RendererOptions = {}): ChartRenderer {
  const { heapMegabytes = 256, longestAnswer = 1_048_576, idleMilliseconds = 60_000 } = options
  const limits = { heapMegabytes, longestAnswer }
  const workerCount = options.workers ?? 3
  const idle: ChartWorker[] = Array.from({ length: workerCount }, newWorker)
  const workers = [...idle]
  const turns = createFairTurns(workerCount)
  let nextId = 1
  let stopped = false
  let trimming: NodeJS.Timeout | undefined

  function trim(): void {
    trimming = undefined
    const warm = idle.filter(worker => worker.warm !== undefined)
    const unused = warm.filter(({ usedAt }) => performance.now() - usedAt >= idleMilliseconds)
    for (const worker of unused) {
      void worker.warm?.end()
      worker.warm = undefined
    }
    if (warm.length > unused.length) trimLater()
  }

  function trimLater(): void {
    if (!stopped) trimming ??= setTimeout(trim, idleMilliseconds).unref()
  }

  function warmThread(worker: ChartWorker): ChartRunner {
    if (!worker.warm?.alive()) worker.warm = startChartThread(limits)
    return worker.warm
  }

  function markUsed(worker: ChartWorker): void {
    worker.usedAt = performance.now()
    trimLater()
  }

  function runnerFor(worker: ChartWorker, chart: ChartSource): ChartRunner {
    if (chart.kind === 'module') return startChartProcess(limits)
    return warmThread(worker)
  }

  async function run(chart: ChartSource, input: ChartInput | 'check', timeoutMilliseconds: number): Promise<ChartOutcome> {
    const turn = await turns.acquire(input === 'check' ? platform : input.namespace)
    // There is one for every turn. The last one that was used: its thread is warm.
    const worker = idle.pop() ?? newWorker()
    try {
      if (stopped) throw new AppError('unavailable', 'the chart renderer has stopped')
      const runner = runnerFor(worker, chart)
      worker.current = runner
      const outcome = await runner.run({ id: nextId++, chart, input, longestAnswer }, timeoutMilliseconds)
      if (chart.kind === 'module') await runner.end()
      return outcome
    } finally {
      worker.current = undefined
      markUsed(worker)
      idle.push(worker)
      turn.done()
    }
  }

  return {
    render: run,
    check: (chart, timeoutMilliseconds) => run(chart, 'check', timeoutMilliseconds),
    warmUp() {
      const worker = idle.at(-1)
      if (worker === undefined || stopped) return
      warmThread(worker)
      markUsed(worker)
    },
    async stop() {
      stopped = true
      clearTimeout(trimming)
      await Promise.all(workers.flatMap(worker => [worker.warm?.end(), worker.current?.end()]))
    },
  }
}
