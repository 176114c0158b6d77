// Loaded into each measured process before its program (`node --import`): answers its parent with the memory of each isolate,
// the main thread and every worker thread. It must not change what it measures: garbage is collected only when the message says
// so.
import { subscribe } from 'node:diagnostics_channel'
import { getHeapStatistics, type HeapInfo } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/** One isolate: JavaScript's heap, and what its objects hold outside of it (buffers, WebAssembly). */
export type IsolateMemory = {
  readonly thread: string
  readonly usedBytes: number
  readonly committedBytes: number
  readonly externalBytes: number
}

export type Question = { readonly collect: boolean }

const workers = new Map<Worker, string>()

// https://nodejs.org/docs/latest-v24.x/api/diagnostics_channel.html#worker-thread
subscribe('worker_threads', message => {
  const { worker } = message as { readonly worker: Worker & { readonly threadName?: string | null } }
  workers.set(worker, worker.threadName || 'worker')
  worker.once('exit', () => workers.delete(worker))
})

function isolate(thread: string, { used_heap_size, total_heap_size, external_memory }: HeapInfo): IsolateMemory {
  return { thread, usedBytes: used_heap_size, committedBytes: total_heap_size, externalBytes: external_memory }
}

async function answer({ collect }: Question): Promise<void> {
  if (collect) {
    if (globalThis.gc === undefined) throw new Error('memory is measured after a collection: start with --expose-gc')
    // Twice: Buffers that the first collection frees are counted until the second one begins.
    globalThis.gc()
    globalThis.gc()
  }
  const others = await Promise.all([...workers].map(async ([worker, name]) => isolate(name, await worker.getHeapStatistics())))
  process.send?.([isolate('main', getHeapStatistics()), ...others])
}

process.on('message', (question: Question) => void answer(question))
// Waiting for messages must not keep the process running.
process.channel?.unref()
