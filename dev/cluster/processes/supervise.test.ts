// Starting, keeping, restarting and ending real processes; another process with a recorded pid is never signalled.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { identify } from './identity.ts'
import { readRecord, writeRecord } from './record.ts'
import { ensureRunning, hasEnded, stopProcess } from './supervise.ts'

let folder: string
const program = { name: 'sleeper', path: '/bin/sleep', args: ['300'] }
function folders() {
  return { records: join(folder, 'records'), logs: join(folder, 'logs') }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'supervise-'))
})

afterEach(async () => {
  await stopProcess('sleeper', folders())
  await rm(folder, { recursive: true })
})

test('starts once, keeps the running process, restarts it when its arguments change', async () => {
  expect(await ensureRunning(program, folders())).toBe('started')
  const first = await readRecord(folders().records, 'sleeper')
  expect(await ensureRunning(program, folders())).toBe('running')
  expect(await readRecord(folders().records, 'sleeper')).toEqual(first)
  expect(await ensureRunning({ ...program, args: ['301'] }, folders())).toBe('restarted')
  expect((await readRecord(folders().records, 'sleeper'))?.pid).not.toBe(first?.pid)
  expect(identify(first?.pid ?? 0)).toBeUndefined()
})

test('restarts when a configuration file changes, and starts a killed process again', async () => {
  const file = join(folder, 'configuration')
  await writeFile(file, 'one')
  const configured = { ...program, configurationFiles: [file] }
  await ensureRunning(configured, folders())
  await writeFile(file, 'two')
  expect(await ensureRunning(configured, folders())).toBe('restarted')
  const record = await readRecord(folders().records, 'sleeper')
  process.kill(record?.pid ?? 0, 'SIGKILL')
  await waitUntil('end', async () => hasEnded('sleeper', folders()))
  expect(await ensureRunning(configured, folders())).toBe('started')
})

test('drops the record of a process whose pid belongs to another process now, and does not signal that process', async () => {
  const stranger = spawn('/bin/sleep', ['300'])
  try {
    const identity = await waitUntil('stranger', async () => identify(stranger.pid ?? 0))
    const record = { ...identity, startTicks: identity.startTicks - 1, name: 'sleeper', fingerprint: 'x', startedAt: 'y' }
    await writeRecord(folders().records, record)
    expect(await stopProcess('sleeper', folders())).toBe(false)
    expect(identify(stranger.pid ?? 0)).toBeDefined()
    expect(await readRecord(folders().records, 'sleeper')).toBeUndefined()
  } finally {
    stranger.kill('SIGKILL')
  }
})

test('kills a process that ignores SIGTERM', async () => {
  const stubborn = { name: 'sleeper', path: '/bin/sh', args: ['-c', "trap '' TERM; echo ready; while :; do sleep 1; done"] }
  await ensureRunning(stubborn, folders())
  const log = join(folders().logs, 'sleeper.log')
  await waitUntil('trap', async () => (await readFile(log, 'utf8')).includes('ready'))
  expect(await stopProcess('sleeper', folders(), 200)).toBe(true)
})

test('ends a program by its own signal', async () => {
  const onlyInterrupt = "trap '' TERM; trap 'echo interrupted; exit 0' INT; echo ready; while :; do sleep 0.05; done"
  await ensureRunning({ name: 'sleeper', path: '/bin/sh', args: ['-c', onlyInterrupt], stopSignal: 'SIGINT' }, folders())
  const log = join(folders().logs, 'sleeper.log')
  await waitUntil('trap', async () => (await readFile(log, 'utf8')).includes('ready'))
  expect(await stopProcess('sleeper', folders())).toBe(true)
  expect(await readFile(log, 'utf8')).toContain('interrupted')
})

test('reports that a program fails to start', async () => {
  await expect(ensureRunning({ ...program, path: '/no/such/program' }, folders())).rejects.toThrow('sleeper failed to start')
})
