// Runs charts with limits on time, memory and size. Owns the thread and the processes; never runs chart code in the main
// thread. Built-in charts share one thread, which is kept as long as it is used: it renders thousands of Applications a second,
// and each further thread would cost a second of processor time and 50 MB before its first rendering. A chart from a ConfigMap
// gets a process of its own each time, without rights, and no rendering sees what an earlier one left behind. Requests beyond
// these wait for their tenant's turn.
import { AppError } from '../../lib/errors.ts'
import { createFairTurns } from '../../lib/limits/fair-turns.ts'
import type { ChartInput, ChartOutcome, ChartSource, WorkerRequest } from './chart-input.ts'
import { startChartProcess } from './chart-process.ts'
import type { ChartRunner } from './chart-runner.ts'
import { startChartThread } from './chart-thread.ts'

/** The port of this service. */
export type ChartRenderer = {
  /**
   * Never rejects for what a chart does; rejects with `unavailable` after `stop`. The timeout does not include the wait for a
   * worker.
   */
  readonly render: (chart: ChartSource, input: ChartInput, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Loads the chart without calling it: does its module parse, and does it export `chart`? Resolves and rejects as `render`. */
  readonly check: (chart: ChartSource, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /**
   * Starts the thread when it is not warm, and keeps it for a while: the next rendering does not wait a third of a second for
   * it.
   */
  readonly warmUp: () => void
  /** Ends the thread and all processes; renderings in progress fail. */
  readonly stop: () => Promise<void>
}

export type RendererOptions = {
  /** Processes of ConfigMaps' charts that run at once, of one tenant all but one. Default 3. */
  readonly processes?: number
  /** Of one thread or process. Default 256. */
  readonly heapMegabytes?: number
  /** The longest JSON text of one rendering, in UTF-16 units. Default 1,048,576. */
  readonly maxAnswer?: number
  /** The thread ends when it was not used for so long: it holds about 50 MB. Default one minute. */
  readonly idleMilliseconds?: number
}

/** Checks are the platform's own; no namespace has this name. */
const platform = ''

// Memory (chart thread): the warm thread of built-in charts; the processes of ConfigMap charts; tenant → renderings that wait
//   life: a minute after its last use or after a build was looked at, and until it misses a deadline; a process for one
//     rendering
//   bound: one thread, in which tenants take turns; three processes, of one tenant two; 100 renderings of a tenant wait
//   freshness: the end of the thread or process
//   replicas: leader only
/** Starts no thread before `warmUp` or the first request. */
export function createChartRenderer(options: RendererOptions = {}): ChartRenderer {
  const { heapMegabytes = 256, maxAnswer = 1_048_576, idleMilliseconds = 60_000 } = options
  const limits = { heapMegabytes, maxAnswer }
  const turns = { 'built-in': createFairTurns(1), module: createFairTurns(options.processes ?? 3) } as const
  const processes = new Set<ChartRunner>()
  let thread: ChartRunner | undefined
  let rendering = false
  let usedAt = 0
  let nextId = 1
  let stopped = false
  let trimming: NodeJS.Timeout | undefined

  /** Not before it has been idle for long enough; a rendering in progress calls `markUsed` when it ends. */
  function trim(): void {
    trimming = undefined
    if (rendering) return
    const left = idleMilliseconds - (performance.now() - usedAt)
    if (left > 0) {
      trimAfter(left)
      return
    }
    void thread?.end()
    thread = undefined
  }

  function trimAfter(milliseconds: number): void {
    if (!stopped) trimming ??= setTimeout(trim, milliseconds).unref()
  }

  function markUsed(): void {
    usedAt = performance.now()
    trimAfter(idleMilliseconds)
  }

  function warmThread(): ChartRunner {
    if (!thread?.alive()) thread = startChartThread(limits)
    return thread
  }

  async function inThread(request: WorkerRequest, timeoutMilliseconds: number): Promise<ChartOutcome> {
    rendering = true
    try {
      return await warmThread().run(request, timeoutMilliseconds)
    } finally {
      rendering = false
      markUsed()
    }
  }

  async function inProcess(request: WorkerRequest, timeoutMilliseconds: number): Promise<ChartOutcome> {
    const runner = startChartProcess(limits)
    processes.add(runner)
    try {
      return await runner.run(request, timeoutMilliseconds)
    } finally {
      await runner.end()
      processes.delete(runner)
    }
  }

  async function run(chart: ChartSource, input: ChartInput | 'check', timeoutMilliseconds: number): Promise<ChartOutcome> {
    return turns[chart.kind].run(input === 'check' ? platform : input.namespace, async () => {
      if (stopped) throw new AppError('unavailable', 'the chart renderer has stopped')
      const request = { id: nextId++, chart, input, maxAnswer }
      return (chart.kind === 'module' ? inProcess : inThread)(request, timeoutMilliseconds)
    })
  }

  return {
    render: run,
    check: (chart, timeoutMilliseconds) => run(chart, 'check', timeoutMilliseconds),
    warmUp() {
      if (stopped) return
      warmThread()
      markUsed()
    },
    async stop() {
      stopped = true
      clearTimeout(trimming)
      await Promise.all([thread, ...processes].map(runner => runner?.end()))
    },
  }
}
