// An owner changes a role of the tenant: proved at GitHub anew, recorded with the person, then written. The only place where
// roles of a Tenant that exists are written. The write holds for the version that was decided about: what somebody else
// changes in between is never overwritten.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { specDigest } from '../../api/audit/spec-digest.ts'
import type { Halt } from '../../api/github/halt.ts'
import { userSubject } from '../../api/names.ts'
import { type Tenant, tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { Log } from '../../lib/log.ts'
import type { Refusal } from '../../policy/check.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { People } from '../people/people.ts'
import type { SignedInPerson } from '../sessions.ts'
import { type PresentOwner, requirePresentOwner } from './present-owner.ts'
import { brokerManager, changedRoles, lockOf, type Role, type RoleChange, refusalOf, type Team } from './role-changes.ts'

export type OwnerDeps = {
  readonly people: Pick<People, 'userClient'>
  readonly kube: Pick<KubeClient, 'get' | 'apply' | 'delete' | 'snapshot'>
  readonly audit: Pick<AuditLog, 'append' | 'list'>
  /** The Halt of the platform that is about the tenant. */
  readonly haltOf: (tenant: Tenant) => Halt | undefined
  readonly log: Log
}

/** The tenant as a page showed it to a person who may see it. */
export type OwnerRequest = { readonly person: SignedInPerson; readonly tenant: Tenant }

/** `owner` is unknown while GitHub does not answer. `lock`: why no owner changes anything at the moment. */
export type RolesView = {
  readonly tenant: Tenant
  readonly owner: 'yes' | 'no' | 'unknown'
  readonly lock: Refusal | undefined
  /** For owners: the teams of the organisation. */
  readonly teams: readonly Team[]
}

/** The Tenant as the API server has it now. Rejects with `conflict` when it is gone, `unavailable` without an answer. */
export async function presentTenant({ kube }: Pick<OwnerDeps, 'kube'>, { metadata }: Tenant): Promise<Tenant> {
  const found = await kube.get(tenants, { name: metadata.name }).catch((cause: unknown) => {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
  })
  if (found?.metadata.uid === metadata.uid && found !== undefined) return found
  throw new AppError('conflict', `the tenant ${metadata.name} is gone, or it is another one now: begin again at the first page`)
}

/** What the page shows. Rejects with `unauthenticated` when the person has to sign in again. */
export async function viewRoles(deps: OwnerDeps, { person, tenant }: OwnerRequest): Promise<RolesView> {
  const present = await presentTenant(deps, tenant)
  const view = { tenant: present, lock: lockOf({ tenant: present, halt: deps.haltOf(present) }), teams: [] }
  try {
    const owner = await requirePresentOwner(deps.people, person, present.spec.account)
    return { ...view, owner: 'yes', teams: await teamsOf(owner, present) }
  } catch (error) {
    if (!isAppError(error)) throw error
    if (error.code === 'forbidden') return { ...view, owner: 'no' }
    if (error.code === 'unavailable' || error.code === 'upstream_failed') return { ...view, owner: 'unknown' }
    throw error
  }
}

async function teamsOf({ client, login }: PresentOwner, { spec: { account } }: Tenant): Promise<readonly Team[]> {
  return account.type === 'Organization' ? client.organizationTeams({ id: account.id, login }) : []
}

type RolesRequest = OwnerRequest & {
  readonly change: RoleChange
  readonly seen: { readonly uid: string; readonly generation: number }
}

/**
 * Rejects with `forbidden` for who is no present owner, which is recorded, and with `conflict` when the change is not made: the
 * message says why. A change that changes nothing is not written, nor recorded.
 */
export async function changeRoles(deps: OwnerDeps, request: RolesRequest): Promise<void> {
  const { person, change, seen } = request
  const owner = await provedOwner(deps, request, 'tenant.roles-changed')
  const teams = change.subject.type === 'Team' ? await teamsOf(owner, request.tenant) : []
  const tenant = await presentTenant(deps, request.tenant)
  const refusal = refusalOf({ tenant, halt: deps.haltOf(tenant), change, seen, teams })
  if (refusal !== undefined) throw new AppError('conflict', refusal.message, { reason: refusal.reason })
  const { subject } = change
  const team = subject.type === 'Team' ? teams.find(({ id }) => id === subject.id) : undefined
  const roles = changedRoles(tenant.spec.roles, change, team)
  if (sameJson(roles, tenant.spec.roles)) return
  const record = changeRecord(person, tenant, roles)
  await deps.audit.append(record)
  try {
    await write(deps, tenant, roles)
  } catch (cause) {
    if (!isKubeError(cause)) throw cause
    // Without an answer it may have been done: the event `tenant.changed` of the Tenant controller says so then.
    if (cause.status > 0)
      await deps.audit.append({
        ...record,
        outcome: 'failed',
        reason: `the API server refused it: ${cause.message.slice(0, 500)}`,
      })
    if (cause.status === 409)
      throw new AppError('conflict', 'the tenant was changed meanwhile: load the page again, look, and change it there', {
        cause,
      })
    throw new AppError('unavailable', 'the API server did not accept the change: load the page again and look', { cause })
  }
  deps.log.info({ tenant: tenant.metadata.name, subject: record.actor }, 'an owner changed the roles of a tenant')
}

/** Owns the field from then on. That no other manager did was decided about this very version. */
async function write({ kube }: OwnerDeps, { apiVersion, kind, metadata }: Tenant, roles: readonly Role[]): Promise<void> {
  const { name, uid = '', resourceVersion = '' } = metadata
  const applied = { apiVersion, kind, metadata: { name, uid, resourceVersion }, spec: { roles } }
  await kube.apply(tenants, applied, { fieldManager: brokerManager, force: true })
}

/** The proof; that it was not given is recorded, with the person who tried. */
export async function provedOwner(
  deps: OwnerDeps,
  { person, tenant }: OwnerRequest,
  action: 'tenant.roles-changed' | 'tenant.offboarded',
): Promise<PresentOwner> {
  try {
    return await requirePresentOwner(deps.people, person, tenant.spec.account)
  } catch (error) {
    if (isAppError(error, 'forbidden'))
      await deps.audit.append({ ...ownerRecord(person, tenant, action), outcome: 'denied', reason: error.message })
    throw error
  }
}

/** What the records of owners' acts have in common. */
export function ownerRecord(
  { host, userId, login }: SignedInPerson,
  { metadata, spec }: Tenant,
  action: 'tenant.roles-changed' | 'tenant.offboarded',
): TenantAuditRecord {
  const { account } = spec
  return {
    action,
    actor: userSubject(host, userId),
    namespace: spec.namespace,
    object: `Tenant/${metadata.name}`,
    outcome: 'allowed',
    reason: 'GitHub named the person as an owner of the account at this moment',
    details: { uid: metadata.uid ?? '', login, host: account.host, accountId: account.id, accountLogin: account.login },
  }
}

function changeRecord(person: SignedInPerson, tenant: Tenant, roles: readonly Role[]): TenantAuditRecord {
  const record = ownerRecord(person, tenant, 'tenant.roles-changed')
  const json = (some: readonly Role[]) => some.map(({ role, subject }) => ({ role, subject: { ...subject } as JsonValue }))
  return {
    ...record,
    details: {
      ...record.details,
      generation: (tenant.metadata.generation ?? 0) + 1,
      specDigest: specDigest({ ...tenant.spec, roles }),
      rolesBefore: json(tenant.spec.roles),
      roles: json(roles),
    },
  }
}
