// The status of an Installation from the facts and the decision. Pure; `verifiedAt` changes only when GitHub was asked about everything, the
// owner included, so that an ordinary resync writes nothing.
import type { Installation } from '../../api/github/installation.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import { wakeOf } from '../observed-wake.ts'
import type { Decision } from './decide.ts'
import type { Facts } from './gather.ts'

/** Keeps what GitHub reported last while it does not report it. */
export function nextStatus({ object, answer, askedAt }: Facts, decision: Decision): NonNullable<Installation['status']> {
  const generation = object.metadata.generation ?? 0
  const { conditions, observedWake, ...before } = object.status ?? {}
  const wake = decision.confirmed ? wakeOf(object) : observedWake
  return {
    ...before,
    ...(answer.kind === 'found' ? reported(answer) : {}),
    ...(decision.confirmed ? { verifiedAt: askedAt.toISOString() } : {}),
    ...(wake === undefined ? {} : { observedWake: wake }),
    observedGeneration: generation,
    conditions: mergeConditions(conditions, [decision.verified, decision.ready], generation, askedAt),
  }
}

function reported({ appId, installation }: Extract<Facts['answer'], { kind: 'found' }>) {
  return { appId, repositorySelection: installation.repositorySelection, permissions: { ...installation.permissions } }
}
