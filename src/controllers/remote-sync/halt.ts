// How far a RemoteSync came: four stages in order, and why it halted at one of them. Pure.
import { remoteSyncReasons as reasons, remoteSync } from '../../api/apps/remote-sync.ts'
import { classOf } from '../../api/reasons/reason.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { isPaced } from '../kit/github-unreachable.ts'
import type { Refusal } from '../kit/refusal.ts'

/** In this order: each stage needs the one before it. */
export const stages = ['Resolved', 'Fetched', 'Built', 'Deployed'] as const
export type Stage = (typeof stages)[number]

/** Why a RemoteSync cannot go on now. At `Ready` all stages are done and the rollout is awaited. */
export type Halt = Refusal & { readonly stage: Stage | 'Ready' }

type Retry = Pick<Refusal, 'requeueAfterMilliseconds' | 'error'>

/** `message` names the field and the cure. Without `retry`, a watch event has to wake the RemoteSync. */
export function halt(stage: Halt['stage'], reason: string, message: string, retry: Retry = {}): Halt {
  return { stage, reason, message, ...retry }
}

/** Both the build and the deployment need that of `spec.application`. */
export function applicationNotFound(
  stage: Stage,
  application: string,
  field: 'spec.application' | 'spec.otherApplications' = 'spec.application',
): Halt {
  const message = `${field}: there is no Application ${application} in this namespace: create it (a RemoteSync does not)`
  return halt(stage, reasons.applicationNotFound, message)
}

/** Whether the same commit would halt for this reason again, however often it is retried. */
export function isPermanent({ reason }: Pick<Halt, 'reason'>): boolean {
  return classOf(remoteSync, reason) === 'failed'
}

/**
 * What an error of the token desk, of GitHub or of a fetch means. A permanent one waits for a change; the others are retried.
 * @throws the error itself when it is none of theirs: a KubeError, or a defect
 */
export function haltOf(stage: Stage, error: unknown): Halt {
  if (!isAppError(error)) throw error
  const { reason = '', retryAfterSeconds, code } = error
  if (isPermanent({ reason })) return halt(stage, reason, error.message)
  const message = messageOf(error).slice(0, 500)
  if (reason === reasons.repositoryNotFound || reason === reasons.approvalMissing) return halt(stage, reason, message)
  // A limit names its end. Every other wait is the shortest one: the queue doubles it when the error repeats.
  if (code === 'too_many_requests' && retryAfterSeconds !== undefined)
    return halt(stage, isPaced(error) ? reasons.paced : reasons.unreachable, message, {
      requeueAfterMilliseconds: retryAfterSeconds * 1000,
    })
  if (['forbidden', 'not_found', 'conflict'].includes(code)) return halt(stage, reasons.waitingForGrant, message, { error })
  return halt(stage, reason === reasons.fetchFailed ? reason : reasons.unreachable, message, { error })
}
