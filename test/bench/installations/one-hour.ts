// An hour of the platform with these accounts while nothing happens: the controllers of Apps, Installations, grants and Halts and
// all that the token desk does by itself, as production has them, by a clock that runs faster than time, which GitHub has too.
// How fast it may run: the client of GitHub makes at most one token in a second of time.
import { type Installation, installation } from '../../../src/api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import { createClusterGitHubAppController } from '../../../src/controllers/cluster-github-app/index.ts'
import { createHaltController } from '../../../src/controllers/halt/index.ts'
import { createInstallationController } from '../../../src/controllers/installation/index.ts'
import { createRepositoryGrantController } from '../../../src/controllers/repository-grant/index.ts'
import { findCondition } from '../../../src/kube/object/conditions.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { DatabaseEnvironment } from '../load/databases.ts'
import { openDesk } from '../token-endpoint/open-desk.ts'
import { type Spending, watchSpending } from './spent.ts'
import type { World } from './world.ts'

export type Hour = {
  readonly spending: Spending
  readonly installations: readonly Installation[]
  readonly grants: readonly RepositoryGrant[]
  /** When it began, by the clock. */
  readonly beganAt: number
}

async function openControllers(world: World, clock: Clock, database: DatabaseEnvironment) {
  const desk = await openDesk({ environment: { ...world.environment, ...database }, clock, isReplica: false })
  const { deps, tokenDesk, events } = desk
  const { manager, store, log } = deps
  const shared = { client: manager.client, manager, events, clock, log, platformNamespace }
  const { githubApps } = tokenDesk
  const onGitHub = { ...shared, githubApps, desk: tokenDesk.desk, audit: store.audit, tokens: store.tokens }
  manager.add(createHaltController(onGitHub))
  manager.add(createClusterGitHubAppController({ ...shared, githubApps }))
  manager.add(createInstallationController(onGitHub))
  manager.add(createRepositoryGrantController({ ...onGitHub, countBreakGlass: () => {} }))
  const all = <T extends KubeObject>(type: ResourceType<T>) => deps.kube.list(type)
  return { ...desk, all }
}

/** What GitHub counts in the hour; `seconds` by the clock. */
export function oneHour(world: World, seconds: number, signal: AbortSignal): Promise<Hour> {
  const clock = world.nextClock()
  return world.databases.withNew(async database => {
    const beganAt = clock.now().getTime()
    const { start, stop, all } = await openControllers(world, clock, database)
    const spending = watchSpending(world.github)
    try {
      await start()
      await clock.sleep(seconds * 1000, signal)
      const [installations, grants] = await Promise.all([all(installation), all(repositoryGrant)])
      return { spending, installations, grants, beganAt }
    } finally {
      spending.close()
      await stop()
    }
  })
}

/** Those that did not stay as they were. */
export function notReady({ installations, grants }: Hour): number {
  const isReady = ({ status }: Installation | RepositoryGrant): boolean =>
    findCondition(status?.conditions, 'Ready')?.status === 'True'
  return [...installations, ...grants].filter(object => !isReady(object)).length
}

/** What was checked at GitHub since the beginning. */
export function checkedSince({ installations, grants, beganAt }: Hour) {
  const since = (time: string | undefined): boolean => time !== undefined && Date.parse(time) >= beganAt
  return {
    owners: installations.filter(({ status }) => since(status?.ownerCheckedAt)).length,
    grants: grants.filter(({ status }) => since(status?.checkedAt)).length,
  }
}
