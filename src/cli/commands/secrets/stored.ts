// What the commands on secrets share: waiting until the platform has taken a change over, and who uses a value.
import type { AppSecret } from '../../../api/apps/app-secret.ts'
import { secretUses } from '../../../api/apps/application/secret-uses.ts'
import { findCondition, reportedGeneration } from '../../../kube/object/conditions.ts'
import { AppError } from '../../../lib/errors.ts'
import { absent, type Cluster } from '../../kubernetes/cluster.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'

const everyMilliseconds = 200
const patienceMilliseconds = 30_000

/**
 * Resolves when the platform has acted on this generation. Rejects when it could not, with its reason, and after half a minute.
 */
export async function taken({ cluster, clock }: ClusterContext, written: AppSecret): Promise<AppSecret> {
  const { client, namespace } = cluster
  const { name, generation = 0 } = written.metadata
  const until = clock.now().getTime() + patienceMilliseconds
  for (;;) {
    const found = (await client.get(appSecrets, { name, namespace })) ?? (await absent(cluster, appSecrets, name))
    const ready = findCondition(found.status?.conditions, 'Ready')
    const isReported = reportedGeneration(found.status) >= generation
    if (isReported && ready?.status === 'True') return found
    if (isReported && ready !== undefined)
      throw new AppError(
        'conflict',
        `AppSecret ${name} is stored, but applications do not get it (${ready.reason}): ${ready.message}`,
      )
    if (clock.now().getTime() > until)
      throw new AppError(
        'unavailable',
        `AppSecret ${name} is stored, and the platform has not taken it over yet: kubectl get appsecret ${name} shows when`,
      )
    await clock.sleep(everyMilliseconds)
  }
}

/** The Applications that use any of these keys of an AppSecret, sorted. */
export async function usersOf({ client, namespace }: Cluster, name: string, keys: readonly string[]): Promise<readonly string[]> {
  const all = await client.list(applications, { namespace })
  return all
    .filter(({ spec }) => secretUses(spec).some(use => use.name === name && (use.key === undefined || keys.includes(use.key))))
    .map(({ metadata }) => metadata.name)
    .sort()
}

/** What happens to the Applications, for people. */
export function restarts(users: readonly string[]): string {
  if (users.length === 0) return 'no Application uses it'
  return `${users.length === 1 ? 'Application' : 'Applications'} ${users.join(', ')} ${users.length === 1 ? 'restarts' : 'restart'} with it, one pod after the other`
}
