// Keeps a control plane warm for the integration tests of this checkout: `start` (or find it), `stop`, and `keep`, which
// `start` calls as a process of its own. It ends by itself when no run has used it for two hours.
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { print, printUsage, runCommandLine } from '../../dev/cluster/command-line.ts'
import { removeTestCluster, startTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { withLock } from '../../dev/cluster/processes/lock.ts'
import { removeRecord } from '../../dev/cluster/processes/record.ts'
import { stopProcess } from '../../dev/cluster/processes/supervise.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { lockOfRuns, startWarmServer, warmCluster, warmFiles, warmKeeper } from '../fixtures/test-server.ts'

const usage = 'usage: node test/server/main.ts start | stop\n'
const idleMilliseconds = 2 * 3_600_000
const lookMilliseconds = 60_000
const stopMilliseconds = 30_000

const settings = readClusterSettings()
const deps = { settings, progress: standardErrorProgress() }
const { folders, used } = warmFiles(settings)
const lock = lockOfRuns(settings)

async function keep(): Promise<void> {
  const stopped = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.abort())
  try {
    const controlPlane = await startTestCluster(deps, warmCluster)
    await controlPlane.admin.close()
    await writeFile(used, '')
    const isIdle = async (): Promise<boolean> => Date.now() - (await stat(used)).mtimeMs > idleMilliseconds
    for (let ended = false; !ended; ) {
      await sleep(lookMilliseconds, undefined, { signal: stopped.signal })
      // A run that takes longer than that holds the lock, and marks the end of its use before it lets go.
      if (await isIdle())
        ended = await withLock(lock, async () => {
          if (!(await isIdle())) return false
          await end()
          return true
        })
    }
  } catch (error) {
    if (!stopped.signal.aborted) throw error
  } finally {
    await removeTestCluster(deps, warmCluster)
  }
}

async function end(): Promise<void> {
  await removeTestCluster(deps, warmCluster)
  await removeRecord(folders.records, warmKeeper)
}

async function run([command]: string[]): Promise<number> {
  const waiting = (pid: number): void =>
    deps.progress.note(`an integration run (pid ${pid}) uses the test control plane; waiting for it`)
  await mkdir(folders.records, { recursive: true })
  switch (command) {
    case 'start': {
      const { kubeconfig, what } = await deps.progress.step('warm test control plane', () =>
        withLock(lock, () => startWarmServer(deps), waiting),
      )
      deps.progress.note(`${what}; it ends after two hours without a run, or with: node dev/cluster/main.ts test-server --stop`)
      print(`${kubeconfig}\n`)
      return 0
    }
    case 'stop':
      await withLock(
        lock,
        async () => {
          await stopProcess(warmKeeper, folders, stopMilliseconds)
          await removeTestCluster(deps, warmCluster)
        },
        waiting,
      )
      return 0
    case 'keep':
      await keep()
      return 0
    default:
      return printUsage(usage)
  }
}

await runCommandLine('test-server', run)
