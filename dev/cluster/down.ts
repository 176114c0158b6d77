// Stops the development cluster and undoes its changes to the host. Caches stay; the cluster's data is deleted unless it is to
// be kept. It must never stop a cluster that it did not start.
import { rm } from 'node:fs/promises'
import { AppError } from '../../src/lib/errors.ts'
import { endAbandonedClusters } from './control-plane/test-cluster.ts'
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
      `KUBECONFIG is set: the cluster of ${settings.givenKubeconfig} is not stopped; unset KUBECONFIG to stop the local cluster`,
    )
    return
  }
  await endAbandonedClusters(options)
  await withLock(clusterLock(settings), () => downLocked(options))
}

async function downLocked({ settings, progress, keepState }: DownOptions): Promise<void> {
  const recordFolder = settings.hostRecordFolder
  const folder = devClusterFolder(settings)
  const record = await readHostRecord(recordFolder)
  if (record !== undefined && record.clusterFolder !== folder) {
    const alive = await aliveNames(recordFolder)
    const what =
      alive.length > 0
        ? `is running (${alive.join(', ')})`
        : 'left files and network settings on this machine, which "make up" here removes'
    throw new AppError('conflict', `the cluster of ${record.repository} ${what}; or run "make down" there`)
  }
  if (record?.node !== undefined && !settings.root) {
    throw new AppError('forbidden', 'root started the node of this cluster; run "down" as root')
  }
  if (record === undefined) progress.note('no cluster is recorded on this machine')
  else await progress.step('stop the cluster and undo its changes to the host', () => cleanHost(record, recordFolder, progress))
  if (!keepState) {
    // Removing a folder through a mount would delete the mounted files.
    if (settings.root) await unmountBelow(folder)
    await rm(folder, { recursive: true, force: true })
  }
  await rm(processFolder(recordFolder), { recursive: true, force: true })
  await removeHostRecord(recordFolder)
}
