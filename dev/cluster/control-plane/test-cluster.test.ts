// A control plane whose owner was killed is ended by its records, and one that is used stays. The programs are played.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { identify } from '../processes/identity.ts'
import { writeRecord } from '../processes/record.ts'
import { silentProgress } from '../progress.ts'
import { readClusterSettings } from '../settings.ts'
import { endAbandonedClusters } from './test-cluster.ts'

async function played(folder: string, owner: unknown): Promise<ChildProcess> {
  const etcd = spawn(process.execPath, ['-e', "setInterval(() => {}, 1000); console.log('runs')"], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void etcd.kill('SIGKILL'))
  await new Promise(resolve => etcd.stdout?.once('data', resolve))
  const identity = identify(etcd.pid ?? 0)
  if (identity === undefined) throw new Error('the program has ended')
  await mkdir(folder)
  await writeFile(join(folder, 'owner.json'), JSON.stringify(owner))
  await writeRecord(join(folder, 'processes'), { ...identity, name: 'etcd', fingerprint: '', startedAt: '' })
  return etcd
}

test('only what nobody owns any more is ended', async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), 'owned-'))
  onTestFinished(() => rm(stateFolder, { recursive: true, force: true }))
  const [used, abandoned] = [join(stateFolder, 'test-cluster'), join(stateFolder, 'attack-cluster')]
  const kept = await played(used, identify(process.pid))
  const left = await played(abandoned, { ...identify(process.pid), startTicks: 1 })
  const ended = new Promise(resolve => left.once('exit', (_, signal) => resolve(signal)))
  await endAbandonedClusters({ settings: { ...readClusterSettings(), stateFolder }, progress: silentProgress })
  expect(await ended).toBe('SIGTERM')
  expect(existsSync(abandoned)).toBe(false)
  expect(existsSync(used)).toBe(true)
  expect(kept.exitCode ?? kept.signalCode).toBeNull()
})
