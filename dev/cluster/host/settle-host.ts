// Prepares the host for a start: removes the traces of an earlier run, and records the changes of this start before it makes
// them.
import { AppError } from '../../../src/lib/errors.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import { plannedChanges, prepareHost } from '../node/host-changes.ts'
import { currentBootId } from '../processes/identity.ts'
import type { Progress } from '../progress.ts'
import type { ClusterSettings } from '../settings.ts'
import { devClusterFolder } from '../settings.ts'
import { cgroupMembers } from './cgroups.ts'
import { aliveNames, cleanHost, recoverHost } from './clean.ts'
import { decideStart } from './decide-start.ts'
import { readHostRecord, writeHostRecord } from './record.ts'

/** Removes what an earlier run left, then records and makes the host changes of this one. True when this host has a node. */
export async function settleHost(settings: ClusterSettings, progress: Progress, withNode: boolean): Promise<boolean> {
  const recordFolder = settings.hostRecordFolder
  const clusterFolder = devClusterFolder(settings)
  const record = await readHostRecord(recordFolder)
  const bootId = currentBootId()
  const podsAlive = record?.node !== undefined && (await cgroupMembers(record.node.cgroup)).length > 0
  const decision = decideStart({ record, clusterFolder, bootId, alive: await aliveNames(recordFolder), podsAlive })
  switch (decision.action) {
    case 'refuse':
      throw new AppError('conflict', decision.message)
    case 'clean':
      await progress.step(`remove what the cluster of ${decision.record.repository} left`, () =>
        cleanHost(decision.record, recordFolder, progress),
      )
      break
    case 'recover':
      if (settings.root)
        await progress.step('remove what interrupted pods left', () => recoverHost(decision.record, recordFolder, progress))
      break
    case 'begin':
    case 'continue':
      break
  }
  const earlier = decision.action === 'clean' ? undefined : record
  const sameBoot = earlier?.bootId === bootId ? earlier : undefined
  const node = withNode ? await plannedChanges(settings, sameBoot) : earlier?.node
  await writeHostRecord(recordFolder, {
    version: 1,
    repository: settings.repository,
    clusterFolder,
    bootId,
    ...defined({ node }),
  })
  if (withNode && node !== undefined) await prepareHost(node, progress)
  return node !== undefined
}
