// The status of an Installation from what was found and decided. Pure; `verifiedAt` moves only when everything was asked anew, so that
// an ordinary resync writes nothing.
import type { Installation } from '../../api/github/installation.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { mergeConditions } from '../../kube/object/conditions.ts'
import type { Verdict } from './decide.ts'
import type { Facts } from './gather.ts'

export type InstallationStatus = NonNullable<Installation['status']>

export function nextStatus({ object, answer, askedAt }: Facts, verdict: Verdict): InstallationStatus {
  const generation = object.metadata.generation ?? 0
  const { conditions, ...before } = object.status ?? {}
  const wake = object.metadata.annotations?.[wakeAnnotation]?.slice(0, 512)
  const seen = answer.kind === 'found' ? { appId: answer.appId, ...reported(answer.installation) } : {}
  const { verifiedAt, observedWake, ...rest } = before
  const confirmation = verdict.confirmed
    ? { verifiedAt: askedAt.toISOString(), ...(wake === undefined ? {} : { observedWake: wake }) }
    : { ...(verifiedAt === undefined ? {} : { verifiedAt }), ...(observedWake === undefined ? {} : { observedWake }) }
  return {
    ...rest,
    ...seen,
    ...confirmation,
    observedGeneration: generation,
    conditions: mergeConditions(
      conditions,
      [
        { type: 'Verified', ...verdict.verified },
        { type: 'Ready', ...verdict.ready },
      ],
      generation,
      askedAt,
    ),
  }
}

function reported(installation: { readonly repositorySelection: 'all' | 'selected'; readonly permissions: object }) {
  return { repositorySelection: installation.repositorySelection, permissions: { ...installation.permissions } }
}
