// Runs charts in worker threads with limits on time, memory and size. Owns the threads; must never run chart code in the main thread.
// Built-in charts share one warm thread for each lane; a chart from a ConfigMap gets a fresh thread each time, so that
// nothing one rendering left behind is seen by the next. Requests beyond the lanes wait in order.
import { AppError } from '../lib/errors.ts'
import type { ChartInput, ChartOutcome, ChartSource } from './chart-input.ts'
import { type ChartThread, startChartThread } from './chart-thread.ts'

export type ChartRenderer = {
  /** Never rejects for what a chart does; rejects (`unavailable`) after stop(). */
  readonly render: (chart: ChartSource, input: ChartInput, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Loads the chart and calls nothing: does its module parse, and does it export `chart`? */
  readonly check: (chart: ChartSource, timeoutMilliseconds: number) => Promise<ChartOutcome>
  /** Starts the first thread, so that the first Application does not wait for it. */
  readonly warmUp: () => void
  readonly stop: () => Promise<void>
}

export type RendererOptions = {
  /** Renderings that run at once. */
  readonly workers?: number
  readonly heapMegabytes?: number
  /** Longest JSON text of one rendering. */
  readonly longestAnswer?: number
}

type Lane = { warm: ChartThread | undefined; current: ChartThread | undefined }

export function createChartRenderer(options: RendererOptions = {}): ChartRenderer {
  const { heapMegabytes = 256, longestAnswer = 1_048_576 } = options
  const idle: Lane[] = Array.from({ length: options.workers ?? 2 }, () => ({ warm: undefined, current: undefined }))
  const lanes = [...idle]
  const waiting: ((lane: Lane) => void)[] = []
  let nextId = 1
  let stopped = false

  function acquire(): Promise<Lane> {
    const lane = idle.pop()
    return lane ? Promise.resolve(lane) : new Promise(resolve => waiting.push(resolve))
  }

  function release(lane: Lane): void {
    const next = waiting.shift()
    if (next) next(lane)
    else idle.push(lane)
  }

  function threadFor(lane: Lane, chart: ChartSource): ChartThread {
    if (chart.kind === 'module') return startChartThread({ heapMegabytes })
    if (!lane.warm?.alive()) lane.warm = startChartThread({ heapMegabytes })
    return lane.warm
  }

  async function run(chart: ChartSource, input: ChartInput | 'check', timeoutMilliseconds: number): Promise<ChartOutcome> {
    const lane = await acquire()
    try {
      if (stopped) throw new AppError('unavailable', 'the chart renderer has stopped')
      const thread = threadFor(lane, chart)
      lane.current = thread
      const outcome = await thread.run({ id: nextId++, chart, input, longestAnswer }, timeoutMilliseconds)
      if (chart.kind === 'module') await thread.end()
      return outcome
    } finally {
      lane.current = undefined
      release(lane)
    }
  }

  return {
    render: run,
    check: (chart, timeoutMilliseconds) => run(chart, 'check', timeoutMilliseconds),
    warmUp() {
      const lane = idle.at(-1)
      if (lane && !stopped) lane.warm ??= startChartThread({ heapMegabytes })
    },
    async stop() {
      stopped = true
      await Promise.all(lanes.flatMap(lane => [lane.warm?.end(), lane.current?.end()]))
    },
  }
}
