// The attacker's process and the watch over this one while it is attacked: how much memory it took and how long its event loop stood still.
import { fork } from 'node:child_process'
import type { Order, Result } from './body-attacker-process.ts'

export type Attacker = { readonly send: (order: Order) => Promise<Result>; readonly stop: () => void }

export function startAttacker(): Attacker {
  const child = fork(new URL('./body-attacker-process.ts', import.meta.url), { stdio: 'inherit', execArgv: [] })
  const waiting = new Map<number, (result: Result) => void>()
  let last = 0
  child.on('message', (message: { readonly id: number; readonly result: Result }) => {
    waiting.get(message.id)?.(message.result)
    waiting.delete(message.id)
  })
  return {
    send(order) {
      last += 1
      const id = last
      return new Promise(resolve => {
        waiting.set(id, resolve)
        child.send({ id, order })
      })
    },
    stop: () => void child.kill(),
  }
}

export type Strain = { readonly growthMegabytes: number; readonly stallMilliseconds: number }

const tickMilliseconds = 5
const megabyte = 1024 * 1024

/**
 * Runs `work` and says how far memory grew above what it was before, and the longest time in which nothing else could run: the processor time
 * that this thread took between two ticks of a timer. Time in which the machine gave it no processor is not its own.
 */
export async function strained<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly strain: Strain }> {
  const before = process.memoryUsage.rss()
  let most = before
  let longest = 0
  let last = process.threadCpuUsage()
  const tick = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    longest = Math.max(longest, (user + system) / 1000)
    most = Math.max(most, process.memoryUsage.rss())
  }
  const ticking = setInterval(tick, tickMilliseconds)
  try {
    const result = await work()
    tick()
    return { result, strain: { growthMegabytes: (most - before) / megabyte, stallMilliseconds: longest } }
  } finally {
    clearInterval(ticking)
  }
}
