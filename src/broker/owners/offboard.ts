// An owner ends the tenant: what would end is listed, the name is typed, the person is proved at GitHub anew and recorded,
// then the Tenant is deleted. The controllers do the rest: tokens are revoked first, then the namespaces go. The only place
// where the broker deletes a Tenant.
import { type Application, application } from '../../api/apps/application.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { keptObject } from '../../api/kept-object.ts'
import { tenant as tenants } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Refusal } from '../../policy/check.ts'
import { haltedText } from '../../policy/halt.ts'
import { readLiveTokens } from '../auditors/live-tokens.ts'
import { endConfirmed } from '../onboarding/onboarding-requests.ts'
import type { OnboardingDeps } from '../onboarding/prove-binding.ts'
import { type Bounded, bounded, byName } from '../tenants/bounded.ts'
import { type OwnerDeps, type OwnerRequest, ownerRecord, presentTenant, provedOwner } from './change-roles.ts'
import { requirePresentOwner } from './present-owner.ts'
import type { RoleFacts } from './role-changes.ts'

export type OffboardDeps = OwnerDeps & {
  readonly grants: Pick<Cache<RepositoryGrant>, 'list'>
  readonly onboardings: OnboardingDeps['onboardings']
  readonly clock: Clock
}

export type Volume = { readonly application: string; readonly name: string; readonly size: string }

/** What ends with the tenant, as far as pages list it. */
export type Ending = {
  readonly applications: Bounded<string>
  readonly volumes: Bounded<Volume>
  readonly grants: Bounded<string>
  /** Tokens that the log says may be accepted by GitHub now. */
  readonly tokens: { readonly count: number; readonly more: boolean }
}

const maxListed = 300
const maxShown = 50

/** Why the tenant cannot be ended by its owner; undefined when it can. Pure. */
export function offboardRefusal({ tenant: { metadata }, halt }: RoleFacts, typed: string): Refusal | undefined {
  if (metadata.deletionTimestamp !== undefined)
    return { reason: 'Ending', message: `the tenant ${metadata.name} is being deleted already` }
  // Stops: an owner who escapes from a Halt, or removes what is to be looked at.
  if (halt !== undefined) return { reason: 'Halted', message: `the tenant cannot be ended now: it is ${haltedText(halt)}` }
  if (typed === metadata.name) return undefined
  return {
    reason: 'OtherName',
    message: `that is not the name of the tenant: nothing was ended. Type ${metadata.name} to end it`,
  }
}

/** Reads what would end. Rejects as `requirePresentOwner` for who is no owner, with `unavailable` without the API server. */
export async function viewEnding(deps: OffboardDeps, { person, tenant }: OwnerRequest): Promise<Ending> {
  await requirePresentOwner(deps.people, person, tenant.spec.account)
  const { namespace } = tenant.spec
  const keep = (object: Application): Application => {
    const { status: _, ...rest } = keptObject(object)
    return { ...rest, spec: { volumes: object.spec.volumes ?? [] } } as unknown as Application
  }
  const { items } = await deps.kube.snapshot(application, { namespace, keep, most: maxListed + 1 }).catch((cause: unknown) => {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
  })
  const { live, mintedSince } = await readLiveTokens(deps.audit, { namespace }, deps.clock.now())
  const volumes = items.flatMap(({ metadata, spec }) =>
    (spec.volumes ?? []).map(({ name, size }) => ({ application: metadata.name, name, size: String(size) })),
  )
  return {
    applications: bounded(
      items.map(({ metadata }) => metadata.name),
      maxShown,
    ),
    volumes: bounded(volumes, maxShown),
    grants: bounded(
      byName(deps.grants.list(namespace)).map(({ metadata }) => metadata.name),
      maxShown,
    ),
    tokens: { count: live.length, more: mintedSince !== undefined },
  }
}

/**
 * Resolves when the API server has accepted the deletion. Rejects with `forbidden` for who is no present owner, which is
 * recorded, and with `conflict` when the name is another one or the tenant cannot be ended.
 */
export async function offboard(deps: OffboardDeps, request: OwnerRequest & { readonly typed: string }): Promise<void> {
  const { person, typed } = request
  await provedOwner(deps, request, 'tenant.offboarded')
  const tenant = await presentTenant(deps, request.tenant)
  const refusal = offboardRefusal({ tenant, halt: deps.haltOf(tenant) }, typed)
  if (refusal !== undefined) throw new AppError('conflict', refusal.message, { reason: refusal.reason })
  const record = { ...ownerRecord(person, tenant, 'tenant.offboarded'), reason: 'an owner ended the tenant and typed its name' }
  await deps.audit.append(record)
  // What somebody confirmed before would otherwise make it again.
  await endConfirmed(deps, tenant.spec.account, 'an owner has ended the tenant meanwhile: begin again')
  const { name, uid = '' } = tenant.metadata
  await deps.kube.delete(tenants, { name }, { uid }).catch((cause: unknown) => {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server did not accept the deletion: load the page again and look', { cause })
  })
  deps.log.info({ tenant: name, subject: record.actor }, 'an owner ended a tenant')
}
