// A lock between processes: a listening socket in Linux's abstract namespace, named after what it protects.
// The kernel releases it when its holder ends, however it ends, so a stale lock cannot exist.
import { createHash } from 'node:crypto'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../src/lib/errors.ts'

const pollMilliseconds = 200
const answerMilliseconds = 1000

function addressOf(name: string): string {
  return `\0sekisho-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
}

/** The listening server when this process has the lock now; undefined when another process holds it. */
function take(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => socket.end(String(process.pid)))
    server.once('error', error => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined)
      else reject(new AppError('unavailable', `failed to take the lock for ${name}: ${error.message}`, { cause: error }))
    })
    server.listen({ path: addressOf(name) }, () => resolve(server))
  })
}

/** The pid that the holder reports; undefined when it has ended or does not answer. */
function holderOf(name: string): Promise<number | undefined> {
  return new Promise(resolve => {
    let text = ''
    const socket = connect({ path: addressOf(name) })
    socket.setTimeout(answerMilliseconds, () => socket.destroy())
    socket.on('data', chunk => {
      text = (text + chunk.toString()).slice(0, 20)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(/^\d+$/.test(text) ? Number(text) : undefined))
  })
}

/** Runs `work` while holding the lock of this name; calls `waiting` once when another process holds it. */
export async function withLock<T>(name: string, work: () => Promise<T>, waiting?: (pid: number) => void): Promise<T> {
  let noted = false
  let server = await take(name)
  while (server === undefined) {
    const holder = noted ? undefined : await holderOf(name)
    if (holder !== undefined) {
      noted = true
      waiting?.(holder)
    }
    await sleep(pollMilliseconds)
    server = await take(name)
  }
  const held = server
  try {
    return await work()
  } finally {
    await new Promise<void>(resolve => held.close(() => resolve()))
  }
}
