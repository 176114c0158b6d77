// Who may have a token: a list that reads like the specification. Pure; the first check that refuses decides, and nothing passes that
// no check looked at. The words are for the tenant's own people (status, audit); the HTTP route tells a workload less.
import type { Installation } from '../api/github/installation.ts'
import type { RepositoryGrant } from '../api/github/repository-grant.ts'
import { findCondition } from '../kube/object/conditions.ts'
import type { TokenSubject } from '../store/token-registry.ts'
import type { DeskFacts } from './facts.ts'

export type Refusal = { readonly reason: string; readonly message: string }

/** What is there when every check passed. */
export type Admitted = {
  readonly grant: RepositoryGrant
  readonly grantUid: string
  readonly installation: Installation
  readonly app: { readonly host: string; readonly appId: number }
  readonly subject: TokenSubject
  readonly repositories: readonly { readonly id: number; readonly name: string }[]
}

type Check = { readonly reason: string; readonly refuses: (facts: DeskFacts) => string | undefined }

const levels = ['read', 'write', 'admin']

export const checks: readonly Check[] = [
  {
    // The grant is the one that was meant: a grant deleted and made again under the same name is another grant.
    reason: 'GrantNotFound',
    refuses: ({ grant, grantUid }) =>
      grant?.metadata.uid === undefined || grant.metadata.uid !== grantUid ? 'the grant does not exist any more' : undefined,
  },
  {
    reason: 'GrantEnding',
    refuses: ({ grant }) => (grant?.metadata.deletionTimestamp === undefined ? undefined : 'the grant is being deleted'),
  },
  {
    // A decision speaks of one generation of the object, and Ready says that it still holds.
    reason: 'GrantNotApproved',
    refuses: ({ grant }) => {
      const { status, metadata } = grant ?? {}
      const decided = status?.observedGeneration === metadata?.generation && status?.decision === 'Approved'
      return decided && findCondition(status?.conditions, 'Ready')?.status === 'True' ? undefined : 'the grant is not approved'
    },
  },
  {
    // By the clock and not only by the controller's word: a grant ends on time although the controller is late.
    reason: 'GrantExpired',
    refuses: ({ grant, now }) => {
      const end = Date.parse(grant?.status?.expiresAt ?? '')
      return end > now.getTime() ? undefined : 'the grant has expired'
    },
  },
  {
    reason: 'NotASubject',
    refuses: ({ grant, subject }) => {
      const named = grant?.spec.subjects.some(({ kind, name }) => kind === subject.kind && name === subject.name)
      const here = grant?.metadata.namespace === subject.namespace
      return named && here && subject.uid !== '' ? undefined : `${subject.kind} ${subject.name} is no subject of the grant`
    },
  },
  {
    // Other deliveries exist so that the workload does not hold the token itself.
    reason: 'OtherDelivery',
    refuses: ({ grant, subject }) =>
      subject.kind === 'ServiceAccount' && grant?.spec.delivery !== 'TokenEndpoint'
        ? `the grant delivers by ${grant?.spec.delivery}, not by the token endpoint`
        : undefined,
  },
  {
    reason: 'InstallationNotReady',
    refuses: ({ installation, grant }) => {
      const { metadata, status } = installation ?? {}
      const mine = metadata?.namespace === grant?.metadata.namespace && metadata?.name === grant?.spec.installation
      const ready = findCondition(status?.conditions, 'Ready')
      const current = ready?.status === 'True' && ready.observedGeneration === metadata?.generation
      return mine && current && metadata?.deletionTimestamp === undefined
        ? undefined
        : `Installation ${grant?.spec.installation} is not ready`
    },
  },
  {
    // Ids are unique per host only: an App of another host must never answer for this installation.
    reason: 'AppNotUsable',
    refuses: ({ app, installation }) =>
      app !== undefined && app.host === installation?.spec.account.host ? undefined : 'the GitHub App cannot be used',
  },
  {
    // Tokens are minted by the ids of the decision, and without any id GitHub would give all.
    reason: 'NoRepositories',
    refuses: ({ grant }) => ((grant?.status?.repositories ?? []).length > 0 ? undefined : 'the grant has no resolved repository'),
  },
  {
    reason: 'NoPermissions',
    refuses: ({ grant }) => (Object.keys(grant?.spec.permissions ?? {}).length > 0 ? undefined : 'the grant has no permission'),
  },
  {
    reason: 'AboveCeiling',
    refuses: ({ grant, installation }) => {
      if (grant === undefined || installation === undefined) return 'the grant has no ceiling'
      const { ceiling } = installation.spec
      const allowed = ceiling.repositories === 'All' ? undefined : new Set(ceiling.repositoryIds ?? [])
      if (allowed && grant.status?.repositories?.some(({ id }) => !allowed.has(id)))
        return 'the grant names a repository above the ceiling of the Installation'
      const above = Object.entries(grant.spec.permissions).find(
        ([name, level]) =>
          levels.indexOf(level) > levels.indexOf(ceiling.permissions[name] ?? (name === 'metadata' ? 'read' : '')),
      )
      return above === undefined
        ? undefined
        : `the grant asks for ${above[0]}: ${above[1]}, above the ceiling of the Installation`
    },
  },
]

/** Everything that is needed to mint, or the first refusal. */
export function admit(facts: DeskFacts): { readonly admitted: Admitted } | { readonly refusal: Refusal } {
  for (const { reason, refuses } of checks) {
    const message = refuses(facts)
    if (message !== undefined) return { refusal: { reason, message } }
  }
  const { grant, grantUid, installation, app, subject } = facts
  const repositories = grant?.status?.repositories
  if (!grant || !grantUid || !installation || !app || !repositories)
    return { refusal: { reason: 'Internal', message: 'a check is missing' } }
  return { admitted: { grant, grantUid, installation, app, subject, repositories } }
}
