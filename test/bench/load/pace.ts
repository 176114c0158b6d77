// The due times of an open loop, each given out when it has come. A thread waits for them: timers of Node.js have a resolution
// of one millisecond (https://nodejs.org/docs/latest-v24.x/api/timers.html#settimeoutcallback-delay-args), many times the
// answer that is measured, and waiting in a loop would take a processor from what is measured.
import { Worker } from 'node:worker_threads'

export type PaceData = { readonly perSecond: number; readonly count: number }
/** First when the pace started, in milliseconds since the epoch; then, at each due time, its number. */
export type PaceMessage = { readonly startedAt: number } | number

export type Pace = {
  /**
   * Resolves to a due time, on the clock of `performance.now()`, not before it has come: the next one that nobody has taken
   * yet. After the last one it resolves to undefined.
   */
  readonly next: () => Promise<number | undefined>
}

type Waiting = PromiseWithResolvers<number | undefined>

/** Resolves when the first request is due. The thread ends after the last due time. */
export async function startPace({ perSecond, seconds }: { readonly perSecond: number; readonly seconds: number }): Promise<Pace> {
  const data: PaceData = { perSecond, count: Math.ceil(perSecond * seconds) }
  const worker = new Worker(new URL('./pace-worker.ts', import.meta.url), { workerData: data })
  const come: number[] = []
  const waiting: Waiting[] = []
  let end: { readonly error?: Error } | undefined

  const settle = ({ resolve, reject }: Waiting, { error }: { readonly error?: Error }): void =>
    error === undefined ? resolve(undefined) : reject(error)
  const finish = (how: { readonly error?: Error }): void => {
    end ??= how
    for (const one of waiting.splice(0)) settle(one, end)
  }
  const started = Promise.withResolvers<number>()
  let startedAt = 0
  worker.on('message', (message: PaceMessage) => {
    if (typeof message !== 'number') {
      startedAt = message.startedAt - performance.timeOrigin
      return started.resolve(startedAt)
    }
    const due = startedAt + (message * 1000) / perSecond
    const first = waiting.shift()
    if (first === undefined) come.push(due)
    else first.resolve(due)
  })
  worker.once('error', error => {
    started.reject(error)
    finish({ error })
  })
  worker.once('exit', () => finish({}))
  await started.promise

  return {
    next() {
      const settled: Waiting = Promise.withResolvers()
      const due = come.shift()
      if (due !== undefined) settled.resolve(due)
      else if (end !== undefined) settle(settled, end)
      else waiting.push(settled)
      return settled.promise
    },
  }
}
