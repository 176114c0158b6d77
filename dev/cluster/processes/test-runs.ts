// Runs of tests: each has a folder for everything temporary, so that what it started and wrote is found by that folder's
// path, whoever started it. A record in the state folder lets another process end what a run left that was killed.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { demandSpace, freeSpace } from '../host/disk-space.ts'
import type { ClusterSettings } from '../settings.ts'
import { identify, isAlive, type ProcessIdentity } from './identity.ts'

type State = Pick<ClusterSettings, 'stateFolder'>

/** `folder`: a new one below the folder for temporary files; every account may write there, as PostgreSQL's has to. */
export type TestRun = { readonly folder: string; readonly process: ProcessIdentity }

/** A process that names the folder of a run in its environment or arguments. */
export type RunProcess = ProcessIdentity & {
  /** The first folder below the run's that it names; undefined when it names the run's alone. */
  readonly place: string | undefined
}

/** Of the tests that write most: two PostgreSQL servers beside each other, registries, clones. */
const neededSpace = { mebibytes: 300, files: 5000 }
const askMilliseconds = 3000
const pollMilliseconds = 25
const likeTmp = 0o1777

function recordFolder({ stateFolder }: State): string {
  return join(stateFolder, 'test-runs')
}

function recordOf(state: State, { folder }: Pick<TestRun, 'folder'>): string {
  return join(recordFolder(state), `${basename(folder)}.json`)
}

const neededForRecords = { mebibytes: 10, files: 100 }

/** Of this process, which has to set `TMPDIR` of what it starts to a folder below `folder`. @throws when the disk is full */
export async function beginTestRun(state: State): Promise<TestRun> {
  const own = identify(process.pid)
  if (own === undefined) throw new Error('/proc does not show this process: tests need Linux with /proc mounted')
  await mkdir(recordFolder(state), { recursive: true })
  demandSpace(state.stateFolder, await freeSpace(state.stateFolder), neededForRecords, 'SEKISHO_STATE')
  demandSpace(tmpdir(), await freeSpace(tmpdir()), neededSpace, 'TMPDIR')
  const folder = await mkdtemp(join(tmpdir(), 'sekisho-run-'))
  await chmod(folder, likeTmp)
  const run = { folder, process: own }
  await writeFile(recordOf(state, run), JSON.stringify(run))
  return run
}

/** Ends what still runs for the run, deletes its folder, and then its record. */
export async function endTestRun(state: State, run: TestRun): Promise<void> {
  await endProcesses(await processesOf(run))
  await rm(run.folder, { recursive: true, force: true })
  await rm(recordOf(state, run), { force: true })
}

/** Ends every recorded run whose process is gone; resolves to a line for each that had left something. */
export async function endDeadRuns(state: State): Promise<readonly string[]> {
  const lines: string[] = []
  for (const run of await recordedRuns(state)) {
    if (isAlive(run.process)) continue
    const left = await processesOf(run)
    await endTestRun(state, run)
    const programs = [...new Set(left.map(({ executable }) => basename(executable)))].join(', ')
    const what = left.length === 0 ? 'its temporary files' : `${left.length} processes (${programs}) and its temporary files`
    lines.push(`a run of tests (pid ${run.process.pid}) was killed: ended what it left: ${what}`)
  }
  return lines
}

async function recordedRuns(state: State): Promise<readonly TestRun[]> {
  const names = await readdir(recordFolder(state)).catch(() => [])
  const runs = await Promise.all(
    names.map(async name => parsedRun(await readFile(join(recordFolder(state), name), 'utf8').catch(() => ''))),
  )
  return runs.filter(run => run !== undefined)
}

/** Only what `beginTestRun` made: a folder that is deleted with all that is in it comes from here. */
function parsedRun(text: string): TestRun | undefined {
  try {
    const { folder, process } = JSON.parse(text) as TestRun
    return /^sekisho-run-\w+$/.test(basename(folder)) && typeof process.pid === 'number' ? { folder, process } : undefined
  } catch {
    return undefined
  }
}

/** All but this process. Those of other users are not seen. */
export async function processesOf({ folder }: Pick<TestRun, 'folder'>): Promise<readonly RunProcess[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map(pid => (pid === process.pid ? undefined : processNaming(pid, folder))))
  return found.filter(one => one !== undefined)
}

async function processNaming(pid: number, folder: string): Promise<RunProcess | undefined> {
  const identity = identify(pid)
  const texts = await Promise.all(['environ', 'cmdline'].map(name => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')))
  const text = `${texts.join('\0')}\0`
  const at = text.indexOf(folder)
  if (identity === undefined || at < 0) return undefined
  const [, place] = /^\/([^/\0:]+)/.exec(text.slice(at + folder.length)) ?? []
  return { ...identity, place }
}

/** Asks all to end, and kills those that do not. */
async function endProcesses(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const alive = processes.filter(one => isAlive(one))
    for (const { pid } of alive) signalled(pid, signal)
    const deadline = Date.now() + askMilliseconds
    while (alive.some(one => isAlive(one)) && Date.now() < deadline) await sleep(pollMilliseconds)
  }
}

function signalled(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended meanwhile.
  }
}
