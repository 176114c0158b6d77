// A run that was killed leaves its programs and its folder; the next one ends and deletes exactly these.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { identify } from './identity.ts'
import { beginTestRun, endDeadRuns, endTestRun, processesOf, type TestRun } from './test-runs.ts'

async function state() {
  const stateFolder = await mkdtemp(join(tmpdir(), 'runs-'))
  onTestFinished(() => rm(stateFolder, { recursive: true, force: true }))
  return { stateFolder }
}

/** A program that does nothing, and says when it does. `ignores`: the signal that asks it to end. */
async function program(run: TestRun, { ignores = false } = {}): Promise<ChildProcess> {
  const text = `${ignores ? "process.on('SIGTERM', () => {});" : ''} setInterval(() => {}, 1000); console.log('runs')`
  const env = { PATH: process.env['PATH'], TMPDIR: join(run.folder, 'ab12cd') }
  const child = spawn(process.execPath, ['-e', text], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise(resolve => child.stdout?.once('data', resolve))
  return child
}

const gone = { pid: 1, executable: '/gone', startTicks: 1, bootId: 'another' }
/** As a process that was killed leaves it. */
async function killedRun(where: { readonly stateFolder: string }): Promise<TestRun> {
  const run = { ...(await beginTestRun(where)), process: gone }
  await writeFile(join(where.stateFolder, 'test-runs', `${basename(run.folder)}.json`), JSON.stringify(run))
  return run
}

test('what a killed run left is ended and deleted, and a run that goes on keeps what it has', async () => {
  const where = await state()
  const [dead, running] = [await killedRun(where), await beginTestRun(where)]
  onTestFinished(() => endTestRun(where, running))
  const [left, used] = [await program(dead), await program(running)]
  const ended = new Promise(resolve => left.once('exit', resolve))
  expect(await endDeadRuns(where)).toEqual([
    'a run of tests (pid 1) was killed: ended what it left: 1 processes (node) and its temporary files',
  ])
  await ended
  expect(existsSync(dead.folder)).toBe(false)
  expect(existsSync(running.folder)).toBe(true)
  expect(await processesOf(running)).toEqual([{ ...identify(used.pid ?? 0), place: 'ab12cd' }])
  expect(await endDeadRuns(where)).toEqual([])
})

test('a program that does not end when it is asked is killed', async () => {
  const where = await state()
  const dead = await killedRun(where)
  const left = await program(dead, { ignores: true })
  const ended = new Promise(resolve => left.once('exit', (_, signal) => resolve(signal)))
  await endDeadRuns(where)
  expect(await ended).toBe('SIGKILL')
})

test('a record that names another folder deletes nothing', async () => {
  const where = await state()
  const precious = join(where.stateFolder, 'precious')
  await mkdir(precious)
  await mkdir(join(where.stateFolder, 'test-runs'))
  await writeFile(join(where.stateFolder, 'test-runs/x.json'), JSON.stringify({ folder: precious, process: gone }))
  await writeFile(join(where.stateFolder, 'test-runs/y.json'), '{"folder"')
  expect(await endDeadRuns(where)).toEqual([])
  expect(await readdir(where.stateFolder)).toContain('precious')
})
