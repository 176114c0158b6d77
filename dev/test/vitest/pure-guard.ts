// Before each file of the project pure: its tests share a thread and a process with others, so a test fails that starts a
// process or a thread, uses a socket, or leaves timers or variables of the process changed. dev/test/vitest/projects.ts could
// not see that it would.
import childProcess, { ChildProcess } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { Server, Socket } from 'node:net'
import workerThreads from 'node:worker_threads'
import { afterEach, beforeEach, vi } from 'vitest'
import { processEnvironment } from '../../../src/lib/config.ts'

const cure = 'a test that does is not pure: add the module that it does it with to `starters` in dev/test/vitest/projects.ts'
const guarded = Symbol.for('sekisho.pure-guard')

/**
 * What the running test reached for. Also on the global object, because a thread keeps its guard when the next file loads this
 * one again.
 */
const reached: string[] = guardedBefore() ?? guard()

beforeEach(() => void reached.splice(0))

let before = ''
beforeEach(() => {
  before = JSON.stringify(processEnvironment())
})

afterEach(() => {
  if (vi.isFakeTimers()) reached.push('leaves timers of Vitest behind')
  if (JSON.stringify(processEnvironment()) !== before) reached.push('leaves process.env changed')
  if (reached.length > 0) throw new Error(`it ${[...new Set(reached)].join(', and ')}; ${cure}`)
})

function guardedBefore(): string[] | undefined {
  return (globalThis as Record<symbol, string[] | undefined>)[guarded]
}

/** Product code may swallow the error, so each call is also noted. */
function guard(): string[] {
  const calls: string[] = []
  const refuse = (target: object, name: string, what: string): void => {
    // No arrow function: a thread is started with `new`.
    function refused(): never {
      calls.push(what)
      throw new Error(`it ${what}; ${cure}`)
    }
    Object.defineProperty(target, name, { value: refused, configurable: true, writable: true })
  }
  refuse(ChildProcess.prototype, 'spawn', 'starts a process')
  for (const name of ['spawnSync', 'execFileSync', 'execSync']) refuse(childProcess, name, 'starts a process')
  refuse(workerThreads, 'Worker', 'starts a thread')
  refuse(Server.prototype, 'listen', 'listens')
  refuse(Socket.prototype, 'connect', 'opens a connection')
  syncBuiltinESMExports()
  Object.defineProperty(globalThis, guarded, { value: calls })
  return calls
}
