// Decides who administers the platform: whoever the cluster's RBAC allows the verb `administer` on `platforms.sekisho.dev`, asked by
// SubjectAccessReview with the user name and the groups of the person's token. There is no second list anywhere.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
import { type SubjectAccessReview, subjectAccessReviews } from '../../api/builtin/index.ts'
import { isGroup, parseUserSubject, platformAdministration } from '../../api/names.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { Identity } from './tenant-access.ts'

export type PlatformAdmins = {
  /** Rejects with `unavailable` when the API server does not answer: without an answer, no person is an admin. */
  readonly includes: (identity: Identity) => Promise<boolean>
}

export type PlatformAdminsDeps = { readonly kube: Pick<KubeClient, 'create'>; readonly clock: Clock }

/** A person who lost the role has it on pages and in the API for this long at most. */
const keepMilliseconds = 10_000
const mostAnswers = 5_000

type Answer = { readonly admin: boolean; readonly until: number }

/** Answers of at most 5,000 identities are kept for ten seconds. */
export function createPlatformAdmins({ kube, clock }: PlatformAdminsDeps): PlatformAdmins {
  const answers = new BoundedMap<Answer>(mostAnswers)
  const flights = new SingleFlight<boolean>()

  const ask = async (identity: Identity): Promise<boolean> => {
    const { apiVersion, kind } = subjectAccessReviews
    // As the API server sees the person: with the group of everybody who is authenticated, and with no group that is not of our form.
    const groups = [...identity.groups.filter(isGroup), 'system:authenticated']
    const spec = { user: identity.subject, groups, resourceAttributes: platformAdministration }
    try {
      const review = await kube.create<SubjectAccessReview>(
        subjectAccessReviews,
        { apiVersion, kind, metadata: {}, spec },
        { fieldManager: 'sekisho-broker' },
      )
      return review.status?.allowed === true && review.status.denied !== true
    } catch (cause) {
      if (!isKubeError(cause)) throw cause
      throw new AppError('unavailable', 'the API server does not say who administers the platform: try again', { cause })
    }
  }

  return {
    async includes(identity) {
      if (parseUserSubject(identity.subject) === undefined) return false
      const key = JSON.stringify([identity.subject, [...identity.groups].sort()])
      const known = answers.get(key)
      if (known !== undefined && known.until > clock.now().getTime()) return known.admin
      return flights.run(key, async () => {
        const admin = await ask(identity)
        answers.set(key, { admin, until: clock.now().getTime() + keepMilliseconds })
        return admin
      })
    },
  }
}
