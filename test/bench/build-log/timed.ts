// How long work took in this process, by the clock and by its processor, and how long the event loop was busy without a break
// meanwhile: so long do the other tasks of the process wait.
import { monitorEventLoopDelay } from 'node:perf_hooks'

export type Timed<T> = {
  readonly value: T
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly loopDelayMilliseconds: number
}

const resolutionMilliseconds = 5

export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
  const usage = process.cpuUsage()
  const started = performance.now()
  delay.enable()
  const value = await work()
  delay.disable()
  const { user, system } = process.cpuUsage(usage)
  return {
    value,
    wallSeconds: (performance.now() - started) / 1000,
    cpuSeconds: (user + system) / 1e6,
    loopDelayMilliseconds: delay.percentile(99) / 1e6,
  }
}
