// An owner binds the installation of another App of the pool on the account: it is a sibling of the Installation that onboarding
// made, and gives its tokens another limit (docs/adr/0097-a-pool-of-apps.md). The proof is that of onboarding, made anew. Which
// installation it is never comes from the person: the controllers found it with the key of that App, on this account.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { type Installation, installation as installations } from '../../api/github/installation.ts'
import { userSubject } from '../../api/names.ts'
import type { KubeClient, NewObject } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { boundedName } from '../../lib/text/bounded-name.ts'
import { isPermissionLevel, lowerLevel, type PermissionLevel } from '../../policy/permission-level.ts'
import type { Ceiling } from '../onboarding/ceiling.ts'
import { installationName } from '../onboarding/desired.ts'
import type { ProvedIntent } from '../onboarding/onboarding-records.ts'
import { type OnboardingDeps, proveBinding } from '../onboarding/prove-binding.ts'
import type { SignedInPerson } from '../sessions.ts'

export type BindAppDeps = OnboardingDeps & { readonly kube: Pick<KubeClient, 'get' | 'create' | 'delete'> }

/** What the controllers found. */
export type OtherApp = NonNullable<NonNullable<Installation['status']>['otherApps']>[number]

const manager = { fieldManager: 'sekisho-broker' }

/** The name of the sibling. */
export function siblingName(app: string): string {
  return boundedName(`${installationName}-${app}`, 63)
}

/** Never more than the owner confirmed for the account, nor than GitHub gives this App. */
export function siblingCeiling({ permissions: most, ...ceiling }: Ceiling, found: OtherApp['permissions']): Ceiling {
  const permissions: Record<string, PermissionLevel> = {}
  for (const [name, limit] of Object.entries(most)) {
    const granted = found[name]
    if (isPermissionLevel(granted)) permissions[name] = lowerLevel(granted, limit)
  }
  return { ...ceiling, permissions }
}

/** Whether the Installation is that of the found App, with the ceiling that follows from the present one of the account. */
export function isBindingOf({ spec }: Installation, { app, installationId, permissions }: OtherApp, of: Ceiling): boolean {
  const isSameApp = spec.app === app && spec.installationId === installationId
  return isSameApp && sameJson(spec.ceiling, siblingCeiling(of, permissions))
}

/** Pure. */
export function desiredSibling(named: Installation, found: OtherApp, intent: ProvedIntent): NewObject<Installation> {
  const { apiVersion, kind, metadata, spec } = named
  return {
    apiVersion,
    kind,
    metadata: { name: siblingName(found.app), namespace: metadata.namespace ?? '' },
    spec: {
      app: found.app,
      installationId: found.installationId,
      account: intent.account,
      boundBy: intent.boundBy,
      proof: intent.proof,
      ceiling: siblingCeiling(spec.ceiling, found.permissions),
    },
  }
}

/**
 * `named`: the Installation of the tenant as onboarding made it. Rejects as `proveBinding`, with `conflict` where GitHub has no
 * such installation, or a former binding has to end first, and with `forbidden` when the account may not be onboarded. One that
 * exists and is the same stays.
 */
export async function bindApp(deps: BindAppDeps, person: SignedInPerson, named: Installation, app: string): Promise<void> {
  const found = named.status?.otherApps?.find(other => other.app === app)
  if (found === undefined)
    throw new AppError('conflict', `${app} is not known to be installed on ${named.spec.account.login}: install it there first`)
  const { intent } = await proveBinding(deps, person, named.spec.installationId)
  if (intent.account.id !== named.spec.account.id || intent.app !== named.spec.app)
    throw new AppError('conflict', 'the account is bound by another App or installation by now: begin again at /onboard')
  if (!deps.mayOnboard(intent.account))
    throw new AppError('forbidden', 'a platform admin has to approve this account first: begin again at /onboard')
  await requirePresent(deps, named)
  const wanted = desiredSibling(named, found, intent)
  const { namespace = '' } = named.metadata
  const name = siblingName(app)
  const existing = await deps.kube.get(installations, { namespace, name })
  if (existing !== undefined && isSame(existing, wanted)) return
  if (existing !== undefined) await end(deps, person, existing)
  // Somebody else has just bound it, if it is not made; the page shows it. The log has what the API server would accept, first.
  if (!(await make(deps, wanted, true))) return
  await deps.audit.append(bindingRecord(person, wanted))
  await make(deps, wanted)
}

/** Resolves to false when there is one of the name. */
async function make({ kube }: BindAppDeps, wanted: NewObject<Installation>, dryRun = false): Promise<boolean> {
  try {
    await kube.create(installations, wanted, { ...manager, dryRun })
    return true
  } catch (cause) {
    if (isKubeError(cause, 409)) return false
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server did not accept the Installation: try again', { cause })
  }
}

/** By the API server: a binding that ends, or is another one by now, gives no ceiling. */
async function requirePresent({ kube }: BindAppDeps, { metadata }: Installation): Promise<void> {
  const { name, namespace = '', uid } = metadata
  const present = await kube.get(installations, { namespace, name })
  if (present?.metadata.uid === uid && present?.metadata.deletionTimestamp === undefined) return
  throw new AppError('conflict', 'the binding of the account ends, or was made again: look at the page of the tenant in a minute')
}

function isSame({ spec, metadata }: Installation, wanted: NewObject<Installation>): boolean {
  const part = ({ app, installationId, account, boundBy, ceiling }: Installation['spec']) =>
    canonicalJson({ app, installationId, accountId: account.id, boundBy: boundBy.id, ceiling: ceiling as never })
  return metadata.deletionTimestamp === undefined && part(spec) === part(wanted.spec)
}

/** The spec is immutable: the finalizer revokes its tokens, and the owner binds again when it is gone. */
async function end({ audit, kube }: BindAppDeps, person: SignedInPerson, { metadata, spec }: Installation): Promise<never> {
  const { name, namespace = '', uid = '' } = metadata
  if (metadata.deletionTimestamp === undefined) {
    await audit.append({
      action: 'installation.replaced',
      actor: userSubject(person.host, person.userId),
      namespace,
      object: `Installation/${namespace}/${name}`,
      outcome: 'allowed',
      reason: 'the App was bound again',
      details: { installationId: spec.installationId, uid },
    })
    await kube.delete(installations, { namespace, name }, uid === '' ? {} : { uid })
  }
  throw new AppError(
    'conflict',
    `the former binding of ${spec.app} ends now, and its tokens are revoked: bind it again in a minute`,
  )
}

function bindingRecord({ host, userId }: SignedInPerson, { metadata, spec }: NewObject<Installation>): AuditRecord {
  const { name, namespace = '' } = metadata
  const { account, proof, ceiling } = spec
  return {
    action: 'installation.added',
    actor: userSubject(host, userId),
    namespace,
    object: `Installation/${namespace}/${name}`,
    outcome: 'allowed',
    reason: `${proof.method} proved at ${proof.provedAt}`,
    details: {
      host: account.host,
      accountId: account.id,
      accountLogin: account.login,
      app: spec.app,
      installationId: spec.installationId,
      repositories: ceiling.repositories,
      permissions: { ...ceiling.permissions },
    },
  }
}
