// What must hold before GitHub is asked for anything, and what an error on the way means. Pure.
import { appPipelineReasons as reasons } from '../../api/apps/app-pipeline.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import { isPaced } from '../kit/github-unreachable.ts'
import type { Refusal } from '../kit/refusal.ts'
import { installationProblem } from '../kit/repository/installation-problem.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import type { Facts } from './gather.ts'

/** Stops requests to GitHub through an installation that does not exist, is suspended or is not verified. */
const installationIsReady: Check<Facts> = ({ installation, pipeline }) => {
  const message = installationProblem(installation, pipeline.spec.installation)
  return message === undefined ? undefined : { reason: reasons.installationNotReady, message }
}

/** Undefined when GitHub may be asked. */
export function decide(facts: Facts): Refusal | undefined {
  return firstRefusal([installationIsReady], facts)
}

/**
 * Whether the open pull requests must be listed again: at a new spec or webhook, after a failure or a restart, and at the
 * periodic check. The resync that triggers the last one comes up to a tenth early.
 */
export function mustList({ pipeline, known, now }: Facts, sweepMilliseconds: number): boolean {
  const { status, metadata } = pipeline
  if (known === undefined || status?.observedGeneration !== metadata.generation) return true
  if (wakeOf(pipeline) !== status?.observedWake) return true
  const listed = findCondition(status?.conditions, 'Listed')
  if (listed?.status !== 'True' && listed?.reason !== reasons.tooMany) return true
  return now.getTime() - known.listedAt.getTime() >= sweepMilliseconds * 0.8
}

/**
 * What an error of the token desk or of GitHub means.
 * @throws the error itself when it is none of theirs: a KubeError, or a defect
 */
export function haltOf(error: unknown): Refusal {
  if (!isAppError(error)) throw error
  const { reason = '', retryAfterSeconds, code } = error
  const message = messageOf(error).slice(0, 500)
  if (reason === reasons.repositoryNotFound) return { reason, message, error }
  if (code === 'too_many_requests' && retryAfterSeconds !== undefined)
    return {
      reason: isPaced(error) ? reasons.paced : reasons.unreachable,
      message,
      requeueAfterMilliseconds: retryAfterSeconds * 1000,
    }
  if (['forbidden', 'not_found', 'conflict'].includes(code)) return { reason: reasons.waitingForGrant, message, error }
  return { reason: reasons.unreachable, message, error }
}
