// For projects whose tests start programs: gives the run a folder for everything temporary (test/fixtures/own-folder.ts),
// ends first what runs left that were killed, and has a process beside it do the same when this one is killed. Names what a
// test leaves behind.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { endAbandonedClusters } from '../../cluster/control-plane/test-cluster.ts'
import { beginTestRun, endTestRun, processesOf, type TestRun } from '../../cluster/processes/test-runs.ts'
import { standardErrorProgress } from '../../cluster/progress.ts'
import { readClusterSettings } from '../../cluster/settings.ts'
import { inOneSentence } from './one-sentence.ts'
import { fileTimes, placeOf } from './place.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Gets a folder for each file of tests. */
    readonly runFolder: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  await endAbandonedClusters({ settings, progress })
  const run = await inOneSentence(beginTestRun(settings))
  const watcher = startWatcher()
  project.provide('runFolder', run.folder)
  return async () => {
    for (const line of await leftBehind(run, settings.repository)) console.error(line)
    await endTestRun(settings, run)
    watcher.stdin.end()
  }
}

/** It sees the end of its standard input when this process ends, however that ends. */
function startWatcher() {
  const watcher = spawn(process.execPath, [join(import.meta.dirname, 'watch-run.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Neither keeps this process: a run that cannot begin has no end that would close it.
  watcher.unref()
  if (watcher.stdin instanceof Socket) watcher.stdin.unref()
  return watcher
}

/** A line for each process, and for the temporary files of each file of tests. */
async function leftBehind(run: TestRun, repository: string): Promise<readonly string[]> {
  const files = globSync('{src,dev,test}/**/*.test.ts', { cwd: repository, exclude: ['**/node_modules/**'] })
  const fileOf = new Map(files.map(file => [placeOf(file), file]))
  const nameOf = (place: string): string => fileOf.get(place) ?? place
  const folders = await Promise.all(
    (await readdir(run.folder))
      .filter(name => name !== fileTimes)
      .map(async place => {
        const left = await readdir(join(run.folder, place))
        return left.length === 0 ? [] : [`left behind: ${nameOf(place)}: ${left.join(', ')} in the folder for temporary files`]
      }),
  )
  const processes = (await processesOf(run)).map(
    ({ pid, executable, place = 'the run' }) => `left behind: ${nameOf(place)}: process ${pid} (${executable})`,
  )
  return [...folders.flat(), ...processes]
}
