// The status of a RepositoryGrant from what was found and decided. Pure. Ids and the end of the grant are fixed by the first approval (the
// probe asks by those ids from then on, and brings today's names);
// `checkedAt` moves only when GitHub was asked, so that an ordinary resync writes nothing.

import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Verdict } from './decide.ts'
import type { Facts } from './gather.ts'

export type GrantStatus = NonNullable<RepositoryGrant['status']>

/** The decision or what decided is another one than before: that goes into the audit log. */
export function isNewDecision(before: GrantStatus | undefined, { judgement }: Verdict): boolean {
  return judgement !== undefined && (before?.decision !== judgement.decision || before.rule !== judgement.rule)
}

export function nextStatus({ object, answer, askedAt }: Facts, verdict: Verdict): GrantStatus {
  const { conditions, ...before } = object.status ?? {}
  const generation = object.metadata.generation ?? 0
  const { judgement } = verdict
  const isNew = judgement !== undefined && before.decision !== judgement.decision
  const wake = object.metadata.annotations?.[wakeAnnotation]?.slice(0, 512)
  const { observedWake, ...rest } = before
  const decided = judgement && {
    decision: judgement.decision,
    rule: judgement.rule,
    ...(isNew ? { decidedAt: askedAt.toISOString() } : {}),
  }
  const end = new Date(askedAt.getTime() + object.spec.lifetimeSeconds * 1000).toISOString()
  const approval =
    judgement?.decision === 'Approved' && answer.kind === 'found'
      ? { repositories: [...answer.repositories], expiresAt: before.expiresAt ?? end }
      : {}
  const seenWake = verdict.checked ? wake : observedWake
  return {
    ...rest,
    ...decided,
    ...approval,
    ...(verdict.checked ? { checkedAt: askedAt.toISOString() } : {}),
    ...(seenWake === undefined ? {} : { observedWake: seenWake }),
    observedGeneration: generation,
    conditions: mergeConditions(
      conditions,
      [
        { type: 'Approved', ...verdict.approved },
        { type: 'Ready', ...verdict.ready },
      ],
      generation,
      askedAt,
    ),
  }
}
