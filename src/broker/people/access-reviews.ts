// Asks the cluster's RBAC, by SubjectAccessReview, what a person or a ServiceAccount may do: with the user name and the groups
// that the API server knows them by. This is the only source of rights.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
import { type SubjectAccessReview, subjectAccessReviews } from '../../api/builtin/index.ts'
import { isGroup, parseUserSubject } from '../../api/names.ts'
import type { ReviewedAccount } from '../../identity/service-account-token.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { Identity } from './tenant-access.ts'

/** What is asked about: a verb on a resource, in one namespace or in all, on one object or on all. */
export type AccessQuestion = SubjectAccessReview['spec']['resourceAttributes']

export type AccessReviews = {
  /** Rejects with `unavailable` when the API server does not answer: without an answer, nothing is allowed. */
  readonly allows: (who: Identity | ReviewedAccount, question: AccessQuestion) => Promise<boolean>
}

export type AccessReviewsDeps = { readonly kube: Pick<KubeClient, 'create'>; readonly clock: Clock }

/** A person who lost a right has it on pages and in the API for this long at most. */
const keepAllowedMilliseconds = 10_000
/**
 * A person who was given a right waits for it this long at most: the owner of a new tenant looks before its RoleBindings
 * exist.
 */
const keepRefusedMilliseconds = 1_000
const maxAnswers = 5_000

type Answer = { readonly allowed: boolean; readonly until: number }

// Memory (answers of RBAC): user, groups and question → the answer; equal questions share one request (ADR 0024)
//   life: 10 s what is allowed, 1 s what is not
//   bound: 5,000, the oldest forgotten first
//   freshness: its end
//   replicas: each; both notice a change within 10 s
/** At most 5,000 answers are kept: for ten seconds what is allowed, for one what is not. */
export function createAccessReviews({ kube, clock }: AccessReviewsDeps): AccessReviews {
  const answers = new BoundedMap<Answer>(maxAnswers)
  const flights = new SingleFlight<boolean>()

  const ask = async (user: ReviewedUser, resourceAttributes: AccessQuestion): Promise<boolean> => {
    const { apiVersion, kind } = subjectAccessReviews
    const spec = { ...user, resourceAttributes }
    try {
      const review = await kube.create<SubjectAccessReview>(
        subjectAccessReviews,
        { apiVersion, kind, metadata: {}, spec },
        { fieldManager: 'sekisho-broker' },
      )
      return review.status?.allowed === true && review.status.denied !== true
    } catch (cause) {
      if (!isKubeError(cause)) throw cause
      throw new AppError('unavailable', 'the API server does not say what you may do: try again', { cause })
    }
  }

  return {
    async allows(who, question) {
      const user = reviewedUser(who)
      if (user === undefined) return false
      const key = JSON.stringify([user.user, [...user.groups].sort(), question])
      const known = answers.get(key)
      if (known !== undefined && known.until > clock.now().getTime()) return known.allowed
      return flights.run(key, async () => {
        const allowed = await ask(user, question)
        const keep = allowed ? keepAllowedMilliseconds : keepRefusedMilliseconds
        answers.set(key, { allowed, until: clock.now().getTime() + keep })
        return allowed
      })
    },
  }
}

type ReviewedUser = { readonly user: string; readonly groups: readonly string[] }

/**
 * As the API server sees them: with the group of everybody who is authenticated. A person has no group that is not of our form,
 * a ServiceAccount those that Kubernetes gives to it
 * (https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/). Undefined for a subject that is no person.
 */
function reviewedUser(who: Identity | ReviewedAccount): ReviewedUser | undefined {
  const everybody = 'system:authenticated'
  if ('username' in who) {
    const all = 'system:serviceaccounts'
    return { user: who.username, groups: [all, `${all}:${who.namespace}`, everybody] }
  }
  if (parseUserSubject(who.subject) === undefined) return undefined
  return { user: who.subject, groups: [...who.groups.filter(isGroup), everybody] }
}
