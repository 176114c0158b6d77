// Starts a long-running program so that it survives the command that started it, or leaves the running one alone.
// It signals a process only after finding its recorded identity in /proc again.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../src/lib/errors.ts'
import type { Account } from '../run-command.ts'
import { toolEnvironment } from '../settings.ts'
import { identify, isAlive } from './identity.ts'
import { readRecord, removeRecord, type StopSignal, writeRecord } from './record.ts'

export type Program = {
  readonly name: string
  readonly path: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Files that the program reads at start only: a change requires a restart. */
  readonly configurationFiles?: readonly string[]
  /** Runs right after the start, before the program can have children of its own. */
  readonly afterStart?: (pid: number) => Promise<void>
  readonly stopMilliseconds?: number
  /** What asks the program to end, when SIGTERM does not. */
  readonly stopSignal?: StopSignal
  /** The account to run as; ours when absent. */
  readonly account?: Account
}

export type ProcessFolders = { readonly records: string; readonly logs: string }

const startMilliseconds = 2000
const pollMilliseconds = 25

export async function programFingerprint(program: Program): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([program.path, program.args, program.environment ?? {}]))
  for (const file of program.configurationFiles ?? []) hash.update(await readFile(file))
  return hash.digest('hex')
}

async function waitForExec(pid: number, launcher: string | undefined): Promise<NonNullable<ReturnType<typeof identify>>> {
  const deadline = Date.now() + startMilliseconds
  for (;;) {
    const identity = identify(pid)
    if (identity !== undefined && identity.executable !== launcher) return identity
    if (Date.now() > deadline)
      throw new AppError('unavailable', `process ${pid} ended or did not start within ${startMilliseconds} ms`)
    await sleep(pollMilliseconds)
  }
}

/** Makes sure that the program runs with this configuration; resolves to what was necessary. */
export async function ensureRunning(program: Program, folders: ProcessFolders): Promise<'running' | 'started' | 'restarted'> {
  const fingerprint = await programFingerprint(program)
  const record = await readRecord(folders.records, program.name)
  const alive = record !== undefined && isAlive(record)
  if (alive && record.fingerprint === fingerprint) return 'running'
  if (alive) await stopProcess(program.name, folders, program.stopMilliseconds)
  mkdirSync(folders.logs, { recursive: true })
  const log = openSync(logFile(program.name, folders), 'a', 0o600)
  try {
    const child = spawn(program.path, program.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: toolEnvironment(program.environment),
      // Another account may not be allowed to enter our folders.
      cwd: program.account === undefined ? folders.logs : '/',
      ...program.account,
    })
    const failed = new Promise<never>((_resolve, reject) => {
      child.once('error', cause =>
        reject(new AppError('unavailable', `${program.name} failed to start: ${cause.message}`, { cause })),
      )
    })
    if (child.pid === undefined) await failed
    const pid = child.pid ?? 0
    child.unref()
    const identity = await Promise.race([waitForExec(pid, undefined), failed])
    const { name, stopSignal } = program
    const startedAt = new Date().toISOString()
    await writeRecord(folders.records, { ...identity, name, fingerprint, startedAt, ...(stopSignal && { stopSignal }) })
    await program.afterStart?.(pid)
  } finally {
    closeSync(log)
  }
  return alive ? 'restarted' : 'started'
}

export function logFile(name: string, folders: ProcessFolders): string {
  return join(folders.logs, `${name}.log`)
}

/**
 * Ends a recorded process with its signal (SIGTERM by default), then SIGKILL, and deletes its record. True when it was running.
 */
export async function stopProcess(name: string, folders: ProcessFolders, patienceMilliseconds = 10_000): Promise<boolean> {
  const record = await readRecord(folders.records, name)
  if (record === undefined) return false
  const wasAlive = isAlive(record)
  for (const signal of [record.stopSignal ?? 'SIGTERM', 'SIGKILL'] as const) {
    if (!isAlive(record)) break
    process.kill(record.pid, signal)
    const deadline = Date.now() + patienceMilliseconds
    while (isAlive(record) && Date.now() < deadline) await sleep(pollMilliseconds)
  }
  if (isAlive(record))
    throw new AppError('unavailable', `${name} (pid ${record.pid}) does not end; end it by hand, then run this command again`)
  await removeRecord(folders.records, name)
  return wasAlive
}

/** Why a recorded program has ended, with the end of its log; undefined while it runs. For `hopeless` of waitUntil. */
export async function hasEnded(name: string, folders: ProcessFolders): Promise<string | undefined> {
  const record = await readRecord(folders.records, name)
  if (record !== undefined && isAlive(record)) return undefined
  return `${name} has ended; end of ${logFile(name, folders)}:\n${await logTail(name, folders)}`
}

/** The last lines of a program's log, for error messages. */
async function logTail(name: string, folders: ProcessFolders, lines = 8): Promise<string> {
  const text = await readFile(logFile(name, folders), 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}
