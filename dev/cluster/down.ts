// Takes the development cluster down and gives the host back as it was. Caches stay; the cluster's data goes unless it is to be kept.
// It must never stop a cluster that it did not start.
import { rm } from 'node:fs/promises'
import { AppError } from '../../src/lib/errors.ts'
import { aliveNames, cleanHost } from './host/clean.ts'
import { unmountBelow } from './host/mounts.ts'
import { processFolder, readHostRecord, removeHostRecord } from './host/record.ts'
import { withLock } from './processes/lock.ts'
import type { Progress } from './progress.ts'
import type { ClusterSettings } from './settings.ts'
import { devClusterFolder } from './settings.ts'
import { clusterLock } from './up.ts'

export type DownOptions = { readonly settings: ClusterSettings; readonly progress: Progress; readonly keepState: boolean }

export async function down(options: DownOptions): Promise<void> {
  const { settings, progress } = options
  if (settings.givenKubeconfig !== undefined) {
    progress.note(
      `KUBECONFIG is set: the cluster of ${settings.givenKubeconfig} is not ours to stop; unset it to stop the local one`,
    )
    return
  }
  await withLock(clusterLock(settings), () => downLocked(options))
}

async function downLocked({ settings, progress, keepState }: DownOptions): Promise<void> {
  const recordFolder = settings.hostRecordFolder
  const folder = devClusterFolder(settings)
  const record = await readHostRecord(recordFolder)
  if (record !== undefined && record.clusterFolder !== folder) {
    const alive = await aliveNames(recordFolder)
    const what = alive.length > 0 ? `runs (${alive.join(', ')})` : 'left things on this machine; "up" here cleans them'
    throw new AppError('conflict', `the cluster of ${record.repository} ${what}; run "make down" there`)
  }
  if (record?.node !== undefined && !settings.root) {
    throw new AppError('forbidden', 'this cluster has a node, which root started; run "down" as root')
  }
  if (record === undefined) progress.note('nothing is recorded on this machine')
  else await progress.step('stop and clean', () => cleanHost(record, recordFolder, progress))
  if (!keepState) {
    // Removing a folder through a mount would remove what is mounted there.
    if (settings.root) await unmountBelow(folder)
    await rm(folder, { recursive: true, force: true })
  }
  await rm(processFolder(recordFolder), { recursive: true, force: true })
  await removeHostRecord(recordFolder)
}
