// Deletes kept logs: those whose RemoteSync is gone, those that are older than is kept, and of each tenant the oldest above
// what it may have; a Tenant may say how long and how much. The API server is asked whether a RemoteSync is gone, because a
// cache may be behind.

import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { type Periodic, periodic } from '../../../lib/periodic.ts'
import type { BuildLogs, LogLimits, LogOwner } from '../../../store/builds/build-logs.ts'

export type RetentionDeps = {
  readonly logs: Pick<BuildLogs, 'owners' | 'deleteOf' | 'expire'>
  readonly remoteSyncs: Pick<Cache<RemoteSync>, 'get'>
  readonly client: Pick<KubeClient, 'get'>
  readonly tenants: Pick<Cache<Tenant>, 'list'>
  /** Of tenants whose Tenant says nothing else. */
  readonly days: number
  /** The same for the bytes of one tenant in the database. */
  readonly maxOfTenant: number
  readonly isLeader: () => boolean
  readonly clock: Clock
  readonly log: Log
}

const everyMilliseconds = 60_000
const dayMilliseconds = 24 * 3_600_000
const megabyte = 1_048_576
/** Requests to the API server in one round; the next round goes on. */
const maxGone = 200

/** Nothing is deleted before `start`, nor on a replica that does not lead. */
export function createLogRetention(deps: RetentionDeps): Periodic {
  const { isLeader, clock, log } = deps
  const work = (): Promise<void> => deleteLogs(deps)
  return periodic({ name: 'deletion of build logs', everyMilliseconds, work, enabled: isLeader, clock, log })
}

type Kept = Pick<RetentionDeps, 'days' | 'maxOfTenant'>

/**
 * The limits of the namespaces whose Tenant sets its own. Of two Tenants that name one namespace the one that keeps more
 * counts, because only one of them has it, and a log that is deleted does not come back.
 */
export function ownLimits(tenants: readonly Tenant[], { days, maxOfTenant }: Kept, now: Date): ReadonlyMap<string, LogLimits> {
  const found = new Map<string, LogLimits>()
  for (const { spec } of tenants) {
    const own = spec.limits?.buildLogs
    const limits = {
      before: daysBefore(now, own?.days ?? days),
      maxStored: own?.megabytes === undefined ? maxOfTenant : own.megabytes * megabyte,
    }
    const other = found.get(spec.namespace) ?? limits
    found.set(spec.namespace, {
      before: new Date(Math.min(other.before.getTime(), limits.before.getTime())),
      maxStored: Math.max(other.maxStored, limits.maxStored),
    })
  }
  const usual = daysBefore(now, days).getTime()
  return new Map([...found].filter(([, own]) => own.before.getTime() !== usual || own.maxStored !== maxOfTenant))
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMilliseconds)
}

/** One round. */
export async function deleteLogs(deps: RetentionDeps): Promise<void> {
  const { logs, remoteSyncs, tenants, client, days, maxOfTenant, clock, log } = deps
  let asked = 0
  let after = ''
  for (;;) {
    const owners = await logs.owners(after)
    for (const owner of owners.filter(
      ({ namespace, remoteSync: name, uid }) => remoteSyncs.get({ namespace, name })?.metadata.uid !== uid,
    )) {
      if (asked >= maxGone) break
      asked += 1
      if (!(await exists(client, owner)))
        log.info({ builds: await logs.deleteOf(owner.uid), owner }, 'logs of a RemoteSync that is gone deleted')
    }
    const last = owners.at(-1)
    if (last === undefined || asked >= maxGone) break
    after = last.uid
  }
  const now = clock.now()
  const usual = { before: daysBefore(now, days), maxStored: maxOfTenant }
  const deleted = await logs.expire(usual, ownLimits(tenants.list(), deps, now))
  if (deleted > 0) log.info({ builds: deleted }, 'old build logs deleted')
}

async function exists(client: Pick<KubeClient, 'get'>, { namespace, remoteSync: name, uid }: LogOwner): Promise<boolean> {
  return (await client.get(remoteSync, { namespace, name }))?.metadata.uid === uid
}
