// The grants of a tenant that wait for people, as one person may see them: RBAC is asked about RepositoryGrants, about the
// answers to them, and whether this person may answer. What is refused and what does not exist have the same answer. Grants come
// from a cache; answers are read when somebody looks, bounded.
import { approvalRight, type GrantApproval, grantApproval } from '../../api/github/grant-approval.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { keptObject } from '../../api/kept-object.ts'
import { platformAdministration } from '../../api/names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import { isAbout } from '../../policy/grants/approvals.ts'
import type { AccessQuestion, AccessReviews } from '../people/access-reviews.ts'
import type { People } from '../people/people.ts'
import type { Identity } from '../people/tenant-access.ts'
import { type Bounded, bounded, byName } from '../tenants/bounded.ts'

/** `answers`: absent for who may not list GrantApprovals. */
export type WaitingGrant = { readonly grant: RepositoryGrant; readonly answers?: readonly GrantApproval[] }

export type GrantsView = {
  readonly waiting: Bounded<WaitingGrant>
  /** Whether RBAC lets the person answer. Not for a grant that they requested. */
  readonly mayAnswer: boolean
  /** Subject → login at the last sign-in here, for display. Not of everybody. */
  readonly logins: ReadonlyMap<string, string>
}

export type VisibleGrants = {
  /** Those that wait, the oldest first. Rejects with `not_found` for who may not list RepositoryGrants. */
  readonly waiting: (identity: Identity, namespace: string) => Promise<GrantsView>
  /** Rejects with `not_found`, also for who may not get it. */
  readonly find: (identity: Identity, namespace: string, name: string) => Promise<RepositoryGrant>
  readonly mayAnswer: (identity: Identity, namespace: string) => Promise<boolean>
}

export type VisibleGrantsDeps = {
  readonly reviews: AccessReviews
  readonly grants: Pick<Cache<RepositoryGrant>, 'get' | 'list'>
  readonly kube: Pick<KubeClient, 'snapshot'>
  readonly people: Pick<People, 'loginOf'>
}

const maxGrants = 50
const maxAnswers = 500
const maxLogins = 50

/** The RepositoryGrants of the namespace that wait for people, the oldest first: whoever makes many hides none of before. */
export function waitingGrants(grants: Pick<Cache<RepositoryGrant>, 'list'>, namespace: string): readonly RepositoryGrant[] {
  const since = ({ metadata }: RepositoryGrant): string => metadata.creationTimestamp ?? ''
  return byName(grants.list(namespace).filter(({ status }) => status?.decision === 'Waiting')).toSorted((a, b) =>
    compareText(since(a), since(b)),
  )
}

function notFound(): AppError {
  return new AppError('not_found', 'there is no such RepositoryGrant, or you may not see it (get and list on repositorygrants)')
}

/** Asks RBAC for every call; what it allows counts for ten seconds. */
export function createVisibleGrants({ reviews, grants, kube, people }: VisibleGrantsDeps): VisibleGrants {
  const onGrants = { group: repositoryGrant.group, resource: repositoryGrant.plural }
  const onAnswers = { group: grantApproval.group, resource: grantApproval.plural }
  const allows = (identity: Identity, question: AccessQuestion) => reviews.allows(identity, question)
  /** As RBAC and the policy `administrators-approvals` let a person: platform admins create answers for break-glass. */
  const mayAnswer = async (identity: Identity, namespace: string): Promise<boolean> => {
    const mayCreate = await allows(identity, { ...onAnswers, verb: 'create', namespace })
    if (!mayCreate || !(await allows(identity, platformAdministration))) return mayCreate
    return allows(identity, { ...approvalRight, namespace })
  }

  async function answersIn(namespace: string): Promise<readonly GrantApproval[]> {
    try {
      const { items } = await kube.snapshot(grantApproval, { namespace, keep: keptObject, most: maxAnswers })
      return items
    } catch (cause) {
      if (!isKubeError(cause)) throw cause
      throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
    }
  }

  async function loginsOf(subjects: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const some = [...new Set(subjects)].slice(0, maxLogins)
    const known = await Promise.all(some.map(async subject => [subject, await people.loginOf(subject)] as const))
    return new Map(known.flatMap(([subject, login]) => (login === undefined ? [] : [[subject, login] as const])))
  }

  return {
    async waiting(identity, namespace) {
      const [seesGrants, seesAnswers, answers] = await Promise.all([
        allows(identity, { ...onGrants, verb: 'list', namespace }),
        allows(identity, { ...onAnswers, verb: 'list', namespace }),
        mayAnswer(identity, namespace),
      ])
      if (!seesGrants) throw notFound()
      const { items, more } = bounded(waitingGrants(grants, namespace), maxGrants)
      const all = seesAnswers && items.length > 0 ? await answersIn(namespace) : undefined
      const waiting = items.map(grant => ({
        grant,
        ...(all && { answers: all.filter(answer => isAbout(answer, grant)) }),
      }))
      const named = waiting.flatMap(one => [
        one.grant.spec.requestedBy,
        ...(one.answers ?? []).map(({ spec }) => spec.requestedBy),
      ])
      return { waiting: { items: waiting, more }, mayAnswer: answers, logins: await loginsOf(named) }
    },
    async find(identity, namespace, name) {
      const allowed = await allows(identity, { ...onGrants, verb: 'get', namespace, name })
      const found = grants.get({ namespace, name })
      if (!allowed || found === undefined) throw notFound()
      return found
    },
    mayAnswer,
  }
}
