// Owns: whether a commit looks sound: what its statuses and check runs say together. Pure.
import type { World } from '../state/world.ts'

const sound = new Set(['success', 'neutral', 'skipped'])

/** Whether the newest status per context and every check run has succeeded; a commit without any is sound. */
export const headIsSound = (world: World, repositoryId: number, sha: string): boolean => {
  const newestFirst = world.statuses.filter(one => one.repositoryId === repositoryId && one.sha === sha).reverse()
  const latest = newestFirst.filter((one, at) => newestFirst.findIndex(other => other.context === one.context) === at)
  const suites = new Set(
    world.checkSuites.filter(one => one.repositoryId === repositoryId && one.headSha === sha).map(one => one.id),
  )
  const runs = world.checkRuns.filter(one => suites.has(one.suiteId))
  return latest.every(one => one.state === 'success') && runs.every(one => one.conclusion !== null && sound.has(one.conclusion))
}
