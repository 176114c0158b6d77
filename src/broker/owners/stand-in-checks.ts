// Whether an owner may stand in for the bindings of a tenant, and for which. Pure. Who stands in confirms what a page showed: the
// form carries its digest. That the person owns the account is proved before.
import { specDigest } from '../../api/audit/spec-digest.ts'
import { answerable, type Installation, installationReasons, maxStandIns } from '../../api/github/installation.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'
import { isTenantOf } from '../onboarding/desired.ts'

export type StandInFacts = {
  readonly tenant: Tenant
  /** The Installations of the account, as the API server has them now. */
  readonly bindings: readonly Installation[]
  /** The numeric id of the person on the host of the account. */
  readonly personId: number
  /** The digest of the page on which the person pressed. */
  readonly shown: string
}

/** The Installations of the tenant's account, in the order of their names: that of onboarding and those of other Apps. */
export function bindingsOf(tenant: Tenant, installations: readonly Installation[]): readonly Installation[] {
  return installations
    .filter(({ spec }) => isTenantOf(tenant, spec.account))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** What a person who stands in confirms: the same as long as the Installations, their binders and their ceilings are. */
export function bindingDigest(bindings: readonly Installation[]): string {
  return specDigest(
    bindings.map(({ metadata, spec }) => ({ uid: metadata.uid ?? '', boundBy: spec.boundBy.id, ceiling: spec.ceiling })),
  )
}

/** The bindings for which the person does not answer yet. */
export function bindingsWithout(bindings: readonly Installation[], personId: number): readonly Installation[] {
  return bindings.filter(one => !answerable(one).some(({ id }) => id === personId))
}

/** Nobody who confirmed the binding owns the account, as GitHub said last. */
export function isOwnerLost({ status }: Pick<Installation, 'status'>): boolean {
  return findCondition(status?.conditions, 'Ready')?.reason === installationReasons.ownerLost
}

const isOfOrganization: Check<StandInFacts> = ({ tenant: { spec } }) =>
  spec.account.type === 'Organization'
    ? undefined
    : { reason: 'UserAccount', message: 'a user account has one holder: nobody can stand in' }

const areThere: Check<StandInFacts> = ({ bindings }) =>
  bindings.length > 0 && bindings.every(({ metadata }) => metadata.deletionTimestamp === undefined)
    ? undefined
    : { reason: 'Ending', message: 'the binding ends, or is made again: look at the page of the tenant in a minute' }

/** Stops: a confirmation of what the person did not see, such as another ceiling. */
const areAsShown: Check<StandInFacts> = ({ bindings, shown }) =>
  bindingDigest(bindings) === shown
    ? undefined
    : { reason: 'Changed', message: 'the binding was changed meanwhile: load the page again, look, and stand in there' }

const isNotBinder: Check<StandInFacts> = ({ bindings, personId }) =>
  bindings.some(({ spec }) => spec.boundBy.id !== personId)
    ? undefined
    : { reason: 'Binder', message: 'you bound the account yourself: another owner stands in' }

/** Stops: somebody who brings back what has ended, of which the tokens were revoked. */
const areHeld: Check<StandInFacts> = ({ bindings }) =>
  bindings.some(isOwnerLost)
    ? { reason: 'OwnerLost', message: 'nobody who confirmed the binding owns the account any more: take over the binding' }
    : undefined

const haveRoom: Check<StandInFacts> = ({ bindings, personId }) =>
  bindingsWithout(bindings, personId).every(({ spec }) => (spec.standIns ?? []).length < maxStandIns)
    ? undefined
    : {
        reason: 'TooMany',
        message: `${maxStandIns} people stand in already: one of them withdraws first, on the page of the tenant`,
      }

/** Why the person does not stand in; undefined for who may, or does already. */
export function standInRefusal(facts: StandInFacts): Refusal | undefined {
  return firstRefusal([isOfOrganization, areThere, areAsShown, isNotBinder, areHeld, haveRoom], facts)
}
