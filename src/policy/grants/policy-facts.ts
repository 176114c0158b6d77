// The input and the result of a decision by policies. Values only. What is not known yet is absent, and a decision says what it
// needs of it: nothing that is unknown counts as allowed.

import type { RequesterRole, Visibility } from '../../api/github/grant-policy.ts'
import type { GrantDelivery } from '../../api/github/repository-grant/delivery.ts'
import type { SubjectKind } from '../grant-facts.ts'
import type { PermissionLevel } from '../permission-level.ts'
import type { TokenLifetime } from './token-lifetime.ts'

/** A repository of a grant. */
export type PolicyRepository = {
  /** Undefined before the name was resolved. */
  readonly id: number | undefined
  readonly name: string
  /** Undefined while GitHub was not asked. */
  readonly visibility: Visibility | undefined
}

/** Who requests: a person, with what is known about teams and roles. */
export type PolicyRequester = {
  /** The numeric id; undefined for what is not a person of the host. */
  readonly personId: number | undefined
  /** Whether the person belongs to a team or has a role, by the key of it; what is absent is not known. */
  readonly memberships: ReadonlyMap<string, boolean>
  /** A ServiceAccount: rules that name requesters allow it nothing, and restrict it as if it were each; GitHub is not asked. */
  readonly isNobody?: boolean
}

/** All that policies look at. */
export type PolicyFacts = {
  readonly host: string
  readonly requester: PolicyRequester
  readonly repositories: readonly PolicyRepository[]
  readonly permissions: Readonly<Record<string, PermissionLevel>>
  readonly subjects: readonly { readonly kind: SubjectKind; readonly name: string }[]
  readonly delivery: GrantDelivery
  /** Patterns of the refs that the grant asks to push to (`refsAsked`). */
  readonly refs: readonly string[]
}

/** One permission on one repository for one subject; of one by which refs are changed, one of these. */
export type PolicyAtom = {
  readonly subject: PolicyFacts['subjects'][number]
  readonly repository: PolicyRepository
  readonly permission: string
  readonly level: PermissionLevel
  readonly ref?: string
}

/** What a decision needs of GitHub. */
export type Needs = {
  readonly teams: readonly number[]
  readonly roles: readonly RequesterRole[]
  /** The ids or the visibility of repositories. */
  readonly repositories: boolean
}

/** By whom: the platform's own rules, those of the cluster or those of the namespace. */
export type RuleOrigin = 'built-in' | 'ClusterGrantPolicy' | 'GrantPolicy'

/** What policies say about a grant. `Unknown` is never an approval, and `RequireApproval` is none yet. */
export type PolicyVerdict =
  | { readonly effect: 'Allow'; readonly rules: readonly string[]; readonly lifetimes: readonly TokenLifetime[] }
  | {
      readonly effect: 'RequireApproval'
      readonly rules: readonly string[]
      readonly approvals: number
      readonly message: string
      readonly lifetimes: readonly TokenLifetime[]
    }
  | { readonly effect: 'Deny'; readonly rule: string; readonly origin: RuleOrigin; readonly message: string }
  | { readonly effect: 'Unknown'; readonly needs: Needs }

/** The key of a team in `PolicyRequester.memberships`. */
export const teamKey = (id: number): string => `team:${id}`
/** The key of a role. */
export const roleKey = (role: RequesterRole): string => `role:${role}`
/** The key of a person in rules. */
export const personKey = (id: number): string => `person:${id}`
