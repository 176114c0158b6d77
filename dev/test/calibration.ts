// Measures how slow this machine is, once for a run: every limit of time in tests is multiplied by it (src/lib/waiting).
// What other programs take from the machine meanwhile is not meant, so the best of some short rounds counts; the waits
// themselves count contention.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { factorVariable, maxTimesTheLimit } from '../../src/lib/waiting/limits.ts'

/** Milliseconds. */
export type Measurements = {
  /** Of 20,000 digests of 1 KiB. */
  readonly hashing: number
  /** Of one write that is on the disk. */
  readonly syncing: number
  /** Of one start of Node.js that does nothing. */
  readonly spawning: number
}

/** Two processors of a virtual machine of 2024. A disk that takes less than 5 ms is never what a test waits for. */
const reference: Measurements = { hashing: 60, syncing: 5, spawning: 50 }

const rounds = 3
const syncs = 15

/** The slowest of the three ratios, from 1 to 4: a machine is as slow as what it is slowest at. */
export function factorOf(measured: Measurements): number {
  const ratios = (['hashing', 'syncing', 'spawning'] as const).map(one => measured[one] / reference[one])
  return Math.min(maxTimesTheLimit, Math.max(1, ...ratios.filter(Number.isFinite)))
}

/** Puts the factor into the environment of what will be started, unless it is there. Takes about half a second. */
export function calibrate(environment: Record<string, string | undefined>): number {
  environment[factorVariable] ??= factorOf(measure()).toFixed(2)
  return Number(environment[factorVariable])
}

function measure(): Measurements {
  return { hashing: best(rounds, hash), syncing: syncMilliseconds(), spawning: best(rounds, spawnNode) }
}

function best(times: number, work: () => void): number {
  return Math.min(...Array.from({ length: times }, () => timed(work)))
}

function timed(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

function hash(): void {
  const block = Buffer.alloc(1024)
  for (let count = 0; count < 20_000; count += 1) createHash('sha256').update(block).digest().copy(block)
}

function spawnNode(): void {
  spawnSync(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' })
}

/** The median: one write that waits for all others of the machine says nothing about the disk. */
function syncMilliseconds(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-calibration-'))
  const file = openSync(join(folder, 'block'), 'w')
  const write = (): void => {
    writeSync(file, Buffer.alloc(4096), 0, 4096, 0)
    fsyncSync(file)
  }
  try {
    return Array.from({ length: syncs }, () => timed(write)).toSorted((a, b) => a - b)[Math.floor(syncs / 2)] ?? 0
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}
