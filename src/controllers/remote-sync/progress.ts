// How far a RemoteSync came in one reconcile: four stages in order, and the one at which it stopped. Data only.
import { type RemoteSync, remoteSyncReasons } from '../../api/apps/remote-sync.ts'

export const reasons = remoteSyncReasons

export type RemoteSyncStatus = NonNullable<RemoteSync['status']>
export type Phases = NonNullable<RemoteSyncStatus['phases']>

/** In this order: each needs the one before. */
export const stages = ['Resolved', 'Fetched', 'Built', 'Deployed'] as const
export type Stage = (typeof stages)[number]

/** What keeps a RemoteSync from going on. `Ready` is the stop of one that is deployed and waits for the rollout. */
export type Stop = {
  readonly kind: 'stop'
  readonly stage: Stage | 'Ready'
  readonly reason: string
  readonly message: string
  /** Come back by itself; absent where a watch wakes it. */
  readonly afterMilliseconds?: number
  /** Trying again may help: rethrown after the status is written, so that the waits grow. */
  readonly error?: unknown
}

export function stop(
  stage: Stop['stage'],
  reason: string,
  message: string,
  more: Pick<Stop, 'afterMilliseconds' | 'error'> = {},
): Stop {
  return { kind: 'stop', stage, reason, message, ...more }
}

export function isStop(value: unknown): value is Stop {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'stop'
}
