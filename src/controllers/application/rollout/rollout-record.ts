// What the status remembers of the rollout of a release. Pure.
import type { Application } from '../../../api/apps/application.ts'

type Status = NonNullable<Application['status']>

/** The record of the release whose objects the cluster has. */
export type RolloutRecord = NonNullable<Status['rollout']>

/** The record of the release that is applied now. One that runs already keeps the time at which it began. */
export function rolloutRecord(status: Status | undefined, runs: number, now: Date): RolloutRecord {
  const { rollout, release } = status ?? {}
  if (rollout?.release === runs) return rollout
  const before = release === undefined || release === runs ? {} : { before: release }
  return { release: runs, startedAt: now.toISOString(), ...before }
}
