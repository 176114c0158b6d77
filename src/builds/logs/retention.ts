// Deletes kept logs: those whose RemoteSync is gone, those that are older than is kept, and of each tenant the oldest above what it may have. The
// API server is asked whether a RemoteSync is gone, because a cache may be behind.

import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { remoteSync } from '../../api/apps/remote-sync.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { BuildLogs, LogOwner } from '../../store/builds/build-logs.ts'

export type RetentionDeps = {
  readonly logs: Pick<BuildLogs, 'owners' | 'deleteOf' | 'expire'>
  readonly remoteSyncs: Pick<Cache<RemoteSync>, 'get'>
  readonly client: Pick<KubeClient, 'get'>
  readonly days: number
  /** Bytes of one tenant in the database. */
  readonly mostOfTenant: number
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}

const everyMilliseconds = 60_000
const dayMilliseconds = 24 * 3_600_000
/** Requests to the API server in one round; the next round goes on. */
const mostGone = 200

/** Nothing is deleted before `start`, nor on a replica that does not lead. */
export function createLogRetention(deps: RetentionDeps): Periodic {
  const { isLeader, clock, log } = deps
  const work = (): Promise<void> => deleteLogs(deps)
  return periodic({ name: 'deletion of build logs', everyMilliseconds, work, enabled: isLeader, clock, log })
}

/** One round. */
export async function deleteLogs({ logs, remoteSyncs, client, days, mostOfTenant, clock, log }: RetentionDeps): Promise<void> {
  let asked = 0
  let after = ''
  for (;;) {
    const owners = await logs.owners(after)
    for (const owner of owners.filter(
      ({ namespace, remoteSync: name, uid }) => remoteSyncs.get({ namespace, name })?.metadata.uid !== uid,
    )) {
      if (asked >= mostGone) break
      asked += 1
      if (!(await exists(client, owner)))
        log.info({ builds: await logs.deleteOf(owner.uid), owner }, 'logs of a RemoteSync that is gone deleted')
    }
    const last = owners.at(-1)
    if (last === undefined || asked >= mostGone) break
    after = last.uid
  }
  const before = new Date(clock.now().getTime() - days * dayMilliseconds)
  const deleted = await logs.expire({ before, mostStored: mostOfTenant })
  if (deleted > 0) log.info({ builds: deleted }, 'old build logs deleted')
}

async function exists(client: Pick<KubeClient, 'get'>, { namespace, remoteSync: name, uid }: LogOwner): Promise<boolean> {
  return (await client.get(remoteSync, { namespace, name }))?.metadata.uid === uid
}
