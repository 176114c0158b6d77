// What owners may change about the roles of their tenant, as a list of checks, and what the roles are then. Pure. An owner
// changes the role of one team, or of all members; the role of the owners themselves stays. What a platform admin has
// written into `spec.roles` is the platform's from then on: the API server remembers whose a field is
// (docs/adr/0084-pages-of-owners.md).
// Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
import type { Halt } from '../../api/github/halt.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { isJsonObject, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'
import { haltedText } from '../../policy/halt.ts'
import type { TenantRole } from '../people/tenant-access.ts'

/** The field manager of the broker. */
export const brokerManager = 'sekisho-broker'

export type Role = Tenant['spec']['roles'][number]
/** A team of the organisation as GitHub lists it. */
export type Team = { readonly id: number; readonly slug: string; readonly name: string }

/** `none` takes the role away. */
export type RoleChange = {
  readonly subject: { readonly type: 'Members' } | { readonly type: 'Team'; readonly id: number }
  readonly role: TenantRole | 'none'
}

export type RoleFacts = {
  /** As the API server has it, with its managed fields. */
  readonly tenant: Tenant
  /** The Halt of the platform that is about the tenant. */
  readonly halt: Halt | undefined
}

type ChangeFacts = RoleFacts & {
  readonly change: RoleChange
  /** What the person looked at. */
  readonly seen: { readonly uid: string; readonly generation: number }
  /** The teams of the organisation now. */
  readonly teams: readonly Team[]
}

/** As many as a Tenant can have. */
const maxRoles = 100

/** Who else wrote the roles, by the managed fields of the object. */
export function otherManagers({ metadata }: Tenant): readonly string[] {
  const entries = isJsonObject(metadata) ? objectsAt(metadata, 'managedFields') : []
  return entries
    .filter(entry => objectAt(entry, 'fieldsV1', 'f:spec', 'f:roles') !== undefined)
    .map(entry => textAt(entry, 'manager') ?? '')
    .filter(manager => manager !== brokerManager)
}

const isThere: Check<RoleFacts> = ({ tenant: { metadata } }) =>
  metadata.deletionTimestamp === undefined
    ? undefined
    : { reason: 'Ending', message: `the tenant ${metadata.name} is being deleted: nothing of it can be changed any more` }

/** Stops: an owner who goes on with a tenant that a platform admin has stopped. */
const isNotHalted: Check<RoleFacts> = ({ halt }) =>
  halt && { reason: 'Halted', message: `the tenant cannot be changed now: it is ${haltedText(halt)}` }

/** Stops: an owner who undoes what a platform admin wrote, such as roles that were taken away. */
const isOwnersToChange: Check<RoleFacts> = ({ tenant }) => {
  const [first] = otherManagers(tenant)
  return first === undefined
    ? undefined
    : {
        reason: 'SetByPlatform',
        message: `a platform admin wrote the roles of this tenant (with ${first.slice(0, 100)}), so they are not changed here: ask a platform admin`,
      }
}

/** Stops: a change of what somebody else has changed since, and of another Tenant of that name. */
const isAsSeen: Check<ChangeFacts> = ({ tenant: { metadata }, seen }) =>
  metadata.uid === seen.uid && metadata.generation === seen.generation
    ? undefined
    : { reason: 'Changed', message: 'the tenant was changed meanwhile: load the page again, look, and change it there' }

const isOfOrganization: Check<ChangeFacts> = ({ tenant: { spec } }) =>
  spec.account.type === 'Organization'
    ? undefined
    : { reason: 'UserAccount', message: 'only organisations have teams and members: the role of a user account stays' }

/** Stops: a role of the team of another organisation, and of one that is gone. It can be taken away. */
const isTeamThere: Check<ChangeFacts> = ({ tenant, change: { subject, role }, teams }) =>
  subject.type !== 'Team' || role === 'none' || teams.some(({ id }) => id === subject.id)
    ? undefined
    : {
        reason: 'UnknownTeam',
        message: `team ${subject.id} is not a team of ${tenant.spec.account.login} on GitHub: load the page again and choose another one`,
      }

/** Stops: everybody of the organisation decides about each other's requests. */
const isRoleForMembers: Check<ChangeFacts> = ({ change: { subject, role } }) =>
  subject.type !== 'Members' || (role !== 'admin' && role !== 'auditor')
    ? undefined
    : { reason: 'MembersAsAdmins', message: 'all members cannot be admins or auditors: give the role to a team' }

const hasRoom: Check<ChangeFacts> = ({ tenant, change }) =>
  changedRoles(tenant.spec.roles, change, undefined).length <= maxRoles
    ? undefined
    : { reason: 'TooManyRoles', message: `a tenant has at most ${maxRoles} roles: take one away first` }

const always: readonly Check<RoleFacts>[] = [isThere, isNotHalted, isOwnersToChange]

/** Why owners change no role at the moment; undefined when they may. */
export function lockOf(facts: RoleFacts): Refusal | undefined {
  return firstRefusal(always, facts)
}

/** Why the change is not made; undefined when it is. That the person is an owner is proved before. */
export function refusalOf(facts: ChangeFacts): Refusal | undefined {
  return lockOf(facts) ?? firstRefusal([isAsSeen, isOfOrganization, isRoleForMembers, isTeamThere, hasRoom], facts)
}

/** Whether a role is of what the change is about. */
function isAbout({ subject }: RoleChange, role: Role): boolean {
  return role.subject.type === subject.type && (subject.type !== 'Team' || role.subject.id === subject.id)
}

/** The roles after the change, in their order; of several roles of one team one is left. `team` gives the name to show. */
export function changedRoles(roles: readonly Role[], change: RoleChange, team: Team | undefined): readonly Role[] {
  const at = roles.findIndex(role => isAbout(change, role))
  const others = roles.filter(role => !isAbout(change, role))
  if (change.role === 'none') return others
  const { subject } = change
  const name = team === undefined ? {} : { name: team.slug }
  const next: Role = {
    role: change.role,
    subject: subject.type === 'Team' ? { type: 'Team', id: subject.id, ...name } : { type: 'Members' },
  }
  return others.toSpliced(at < 0 ? others.length : at, 0, next)
}
