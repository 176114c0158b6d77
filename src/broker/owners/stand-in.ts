// An owner stands in for the binding of a tenant while the one who bound it is there, or is taken away again
// (docs/adr/0116-stand-ins-for-the-binding.md). The proof is that of onboarding, made anew; what is confirmed is the ceiling as
// it stands. The only place where the spec of an Installation that exists is written, and only its `standIns`.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { specDigest } from '../../api/audit/spec-digest.ts'
import { type Installation, installation as installations, type StandIn } from '../../api/github/installation.ts'
import { userSubject } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import { onboardedInstallation } from '../onboarding/desired.ts'
import type { ProvedIntent } from '../onboarding/onboarding-records.ts'
import { type OnboardingDeps, proveBinding } from '../onboarding/prove-binding.ts'
import type { SignedInPerson } from '../sessions.ts'
import { requirePresentOwner } from './present-owner.ts'
import { brokerManager } from './role-changes.ts'
import { bindingsOf, bindingsWithout, standInRefusal } from './stand-in-checks.ts'

export type StandInDeps = OnboardingDeps & { readonly kube: Pick<KubeClient, 'list' | 'mergePatch'> }

type Asked = { readonly person: SignedInPerson; readonly tenant: Tenant }

/** `named`: the Installation that onboarding made; `shown`: the digest of the page on which the person pressed. */
export type StandInRequest = Asked & { readonly named: Installation; readonly shown: string }

/**
 * Rejects as `proveBinding`, with `conflict` when the person does not stand in (the message says why), and with `forbidden` when
 * the account may not be onboarded. Who stands in already stays, without another record.
 */
export async function standIn(deps: StandInDeps, { person, tenant, named, shown }: StandInRequest): Promise<void> {
  const { intent } = await proveBinding(deps, person, named.spec.installationId)
  const bindings = await presentBindings(deps, tenant)
  requireSameAccount(intent, tenant, onboardedInstallation(tenant, bindings))
  if (!deps.mayOnboard(intent.account))
    throw new AppError('forbidden', 'a platform admin has to approve this account first: begin again at /onboard')
  const refusal = standInRefusal({ tenant, bindings, personId: person.userId, shown })
  if (refusal !== undefined) throw new AppError('conflict', refusal.message, { reason: refusal.reason })
  for (const binding of bindingsWithout(bindings, person.userId)) await add(deps, { person, tenant, binding }, intent)
}

/** By ids and the App: a proof about another account, or as another App, confirms nothing here. */
function requireSameAccount({ account, app }: ProvedIntent, { spec }: Tenant, named: Installation): void {
  const isSame = account.host === spec.account.host && account.id === spec.account.id && app === named.spec.app
  if (!isSame) throw new AppError('conflict', 'the account is bound by another App by now: begin again at /onboard')
}

/** By the API server. Rejects with `unavailable` without its answer. */
async function presentBindings({ kube }: StandInDeps, tenant: Tenant): Promise<readonly Installation[]> {
  const { namespace } = tenant.spec
  try {
    return bindingsOf(tenant, await kube.list(installations, { namespace }))
  } catch (cause) {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
  }
}

type Change = Asked & { readonly binding: Installation }

function add(deps: StandInDeps, change: Change, { proof }: ProvedIntent): Promise<void> {
  const { person, binding } = change
  const one: StandIn = {
    id: person.userId,
    login: person.login,
    proof: { method: 'OrganizationOwner', provedAt: proof.provedAt },
  }
  const { ceiling, standIns = [] } = binding.spec
  const record = standInRecord(change, one, 'installation.stand-in-added')
  return write(
    deps,
    { binding, standIns: [...standIns, one] },
    {
      ...record,
      reason: `${proof.method} proved at ${proof.provedAt}`,
      details: {
        ...record.details,
        repositories: ceiling.repositories,
        permissions: { ...ceiling.permissions },
        ceilingDigest: specDigest(ceiling),
      },
    },
  )
}

/**
 * Who stands in withdraws; a present owner takes anybody away. Rejects as `requirePresentOwner`, which is recorded, and with
 * `conflict` while the account is halted or the Installation was changed meanwhile. Who does not stand in is no error.
 */
export async function withdrawStandIn(deps: StandInDeps, asked: Asked & { readonly standInId: number }): Promise<void> {
  const { person, tenant, standInId } = asked
  const { account } = tenant.spec
  const isOwn = person.host === account.host && person.userId === standInId
  const bindings = await presentBindings(deps, tenant)
  const held = bindings.flatMap(binding =>
    (binding.spec.standIns ?? []).filter(({ id }) => id === standInId).map(one => ({ binding, one })),
  )
  if (!isOwn) await requireOwner(deps, asked, held)
  const halted = deps.haltOf(account, person.userId)
  if (halted !== undefined)
    throw new AppError('conflict', `the binding cannot be changed now: it is ${halted}`, { reason: 'Halted' })
  for (const { binding, one } of held) {
    const standIns = (binding.spec.standIns ?? []).filter(({ id }) => id !== standInId)
    const record = standInRecord({ person, tenant, binding }, one, 'installation.stand-in-removed')
    await write(
      deps,
      { binding, standIns },
      { ...record, reason: isOwn ? 'the person withdrew' : 'an owner of the account took the person away' },
    )
  }
}

type Held = { readonly binding: Installation; readonly one: StandIn }

/** That the proof was not given is recorded, with the person who tried. */
async function requireOwner(deps: StandInDeps, { person, tenant }: Asked, held: readonly Held[]): Promise<void> {
  try {
    await requirePresentOwner(deps.people, person, tenant.spec.account)
  } catch (error) {
    if (!isAppError(error, 'forbidden')) throw error
    for (const { binding, one } of held) {
      const record = standInRecord({ person, tenant, binding }, one, 'installation.stand-in-removed')
      await deps.audit.append({ ...record, outcome: 'denied', reason: error.message })
    }
    throw error
  }
}

type Written = { readonly binding: Installation; readonly standIns: readonly StandIn[] }

/** The API server is asked whether it would accept it, then the log has it, then it is written. */
async function write(deps: StandInDeps, written: Written, record: TenantAuditRecord): Promise<void> {
  await send(deps, written, true)
  await deps.audit.append(record)
  try {
    await send(deps, written)
  } catch (error) {
    if (!isAppError(error)) throw error
    // Without an answer it may have been done.
    const isOpen = isKubeError(error.cause) && error.cause.status === 0
    const reason = `the API server refused it: ${messageOf(error.cause ?? error).slice(0, 500)}`
    if (!isOpen) await deps.audit.append({ ...record, outcome: 'failed', reason })
    throw error
  }
}

/** For the version that was decided about only: no other binding of the name, and nothing that somebody else wrote. */
async function send({ kube }: StandInDeps, { binding, standIns }: Written, dryRun = false): Promise<void> {
  const { name, namespace = '', resourceVersion = '' } = binding.metadata
  // `null` takes the field away: an empty list is refused.
  const patch = { metadata: { resourceVersion }, spec: { standIns: standIns.length === 0 ? null : standIns } }
  const changed = 'the binding was changed meanwhile: load the page again, look, and try there'
  try {
    const found = await kube.mergePatch(installations, { namespace, name }, patch, { fieldManager: brokerManager, dryRun })
    if (found === undefined) throw new AppError('conflict', changed)
  } catch (cause) {
    if (!isKubeError(cause)) throw cause
    if (cause.status === 409) throw new AppError('conflict', changed, { cause })
    throw new AppError('unavailable', 'the API server did not accept the change: load the page again and look', { cause })
  }
}

function standInRecord(
  { person, tenant, binding: { metadata, spec } }: Change,
  one: StandIn,
  action: 'installation.stand-in-added' | 'installation.stand-in-removed',
): TenantAuditRecord {
  const { account } = spec
  const { name, namespace = tenant.spec.namespace, uid = '' } = metadata
  return {
    action,
    actor: userSubject(person.host, person.userId),
    namespace,
    object: `Installation/${namespace}/${name}`,
    outcome: 'allowed',
    reason: '',
    details: {
      uid,
      login: person.login,
      standIn: userSubject(account.host, one.id),
      standInLogin: one.login,
      boundBy: userSubject(account.host, spec.boundBy.id),
      host: account.host,
      accountId: account.id,
      accountLogin: account.login,
      installationId: spec.installationId,
    },
  }
}
