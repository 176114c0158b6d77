// The status of an Installation from the facts and the decision. Pure; its times change only when the owner was checked, or
// when half of the day has passed for which a confirmation counts, so that an ordinary resync writes nothing.
import type { Installation } from '../../api/github/installation.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { wakeOf } from '../kit/repository/observed-wake.ts'
import type { Decision } from './decide.ts'
import type { Facts } from './facts.ts'

/** Half of the time for which a confirmation counts while GitHub does not answer. */
const refreshMilliseconds = 43_200_000

type Status = NonNullable<Installation['status']>

/** Keeps what GitHub reported last while it does not report it. */
export function nextStatus({ object, answer, otherApps, askedAt }: Facts, decision: Decision): Status {
  const generation = object.metadata.generation ?? 0
  const { conditions, observedWake, otherApps: known = [], ...before } = object.status ?? {}
  const others = otherApps ?? known
  const answered = answer.kind === 'found' || answer.kind === 'absent'
  const wake = answered ? wakeOf(object) : observedWake
  return {
    ...withOwner(before, answer, askedAt),
    ...(answer.kind === 'found' ? reported(answer) : {}),
    ...(decision.confirmed && isDue(before.verifiedAt, answer, askedAt) ? { verifiedAt: askedAt.toISOString() } : {}),
    ...(others.length > 0 ? { otherApps: [...others] } : {}),
    ...defined({ observedWake: wake }),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, [decision.verified, decision.ready], generation, askedAt),
  }
}

function isOwnerAnswered(answer: Facts['answer']): answer is Extract<Facts['answer'], { kind: 'found' }> {
  return answer.kind === 'found' && answer.owner.kind !== 'not-due'
}

/** One of two times, and who answers in place of who bound it: the last answer about the owner counts until the next one. */
function withOwner(before: Status, answer: Facts['answer'], askedAt: Date): Status {
  if (!isOwnerAnswered(answer)) return before
  const { ownerCheckedAt, ownerLostAt, standIn, ...rest } = before
  const { owner } = answer
  const time = askedAt.toISOString()
  if (owner.kind === 'not-owner') return { ...rest, ownerLostAt: time }
  return { ...rest, ownerCheckedAt: time, ...(owner.kind === 'stand-in' ? { standIn: owner.standIn } : {}) }
}

function isDue(verifiedAt: string | undefined, answer: Facts['answer'], now: Date): boolean {
  if (verifiedAt === undefined || isOwnerAnswered(answer)) return true
  return now.getTime() - Date.parse(verifiedAt) >= refreshMilliseconds
}

function reported({ appId, installation }: Extract<Facts['answer'], { kind: 'found' }>) {
  return { appId, repositorySelection: installation.repositorySelection, permissions: { ...installation.permissions } }
}
