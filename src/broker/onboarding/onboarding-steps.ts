// The steps of a confirmed onboarding, one remembered state at a time, from the state it stopped in: write the Tenant; when the
// Tenant controller has created the namespace, write the Installation; then append the audit record. The only writer of these
// objects. Every step may run again after a crash.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { namespaces } from '../../api/builtin/index.ts'
import { type Installation, installation } from '../../api/github/installation.ts'
import { buildNamespaceOf, labels, userSubject, wakeAnnotation, wakeText } from '../../api/names.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { desiredInstallation, desiredTenant, installationName, isTenantOf } from './desired.ts'
import { type OnboardingRecord, type OnboardingRecords, type ProvedOnboarding, provedRecord } from './onboarding-records.ts'
import { tenantNameCandidates } from './tenant-name.ts'

export type StepDeps = {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>
  readonly onboardings: Pick<OnboardingRecords, 'move'>
  readonly audit: Pick<AuditLog, 'appendOnce'>
  readonly log: Log
}

/** `waiting`: the namespace does not exist yet, or a former Installation is still being deleted. */
export type Progress = 'finished' | 'waiting'

type NamedOnboarding = ProvedOnboarding & { readonly installationId: number; readonly intent: { readonly tenantName: string } }

const endedNote = 'the tenant was ended meanwhile: begin again when it is gone'

const manager = { fieldManager: 'sekisho-broker' }

/**
 * Takes every step of a confirmed onboarding that can be taken now. Rejects when one fails; the next call begins with that
 * step.
 */
export async function advanceOnboarding(deps: StepDeps, onboarding: OnboardingRecord): Promise<Progress> {
  const proved = provedRecord(onboarding)
  // Stops: an onboarding that makes a tenant again that somebody ended after it was confirmed.
  if (proved.state !== 'installation-written' && (await isEnded(deps, proved))) {
    await deps.onboardings.move(proved, 'abandoned', { note: endedNote })
    return 'finished'
  }
  let current = namedRecord(proved.state === 'confirmed' ? await writeTenant(deps, proved) : proved)
  if (current.state === 'tenant-written') {
    if ((await writeInstallation(deps, current)) === 'waiting') return 'waiting'
    current = { ...current, state: 'installation-written' }
  }
  if (current.state === 'installation-written') await recordBinding(deps, current)
  return 'finished'
}

function namedRecord(onboarding: ProvedOnboarding): NamedOnboarding {
  const { installationId, intent } = onboarding
  const { tenantName } = intent
  if (tenantName !== undefined && installationId !== undefined)
    return { ...onboarding, installationId, intent: { ...intent, tenantName } }
  throw new AppError('integrity_violation', `onboarding ${onboarding.id} has lost its tenant or installation`)
}

async function writeTenant(deps: StepDeps, onboarding: ProvedOnboarding): Promise<ProvedOnboarding> {
  const { intent } = onboarding
  const tenantName = intent.tenantName ?? (await freeName(deps, onboarding))
  const named = { ...intent, tenantName }
  // The name is remembered before it is used: after a crash the same one is used again.
  if (intent.tenantName === undefined) await deps.onboardings.move(onboarding, 'confirmed', { intent: named })
  try {
    await deps.kube.create(tenant, desiredTenant(intent, tenantName), manager)
  } catch (error) {
    if (!isKubeError(error, 409)) throw error
    await joinTenant(deps, onboarding, tenantName)
  }
  await deps.onboardings.move(onboarding, 'tenant-written', { intent: named })
  return { ...onboarding, state: 'tenant-written', intent: named }
}

async function freeName(deps: StepDeps, { id, intent: { account } }: ProvedOnboarding): Promise<string> {
  const known = (await deps.kube.list(tenant)).find(existing => isTenantOf(existing, account))
  if (known !== undefined) return known.metadata.name
  for (const name of tenantNameCandidates(account, id)) if (await isFree(deps, name)) return name
  throw new AppError('conflict', `no free name for ${account.login}: a platform admin has to create the Tenant`)
}

/**
 * A namespace that exists may belong to others, such as an operator: a tenant never gets it, nor one whose build namespace
 * exists.
 */
async function isFree({ kube }: StepDeps, name: string): Promise<boolean> {
  if ((await kube.get(tenant, { name })) !== undefined) return false
  const found = await Promise.all([name, buildNamespaceOf(name)].map(namespace => kube.get(namespaces, { name: namespace })))
  return found.every(namespace => namespace === undefined)
}

/**
 * The Tenant exists already: from an earlier run, from an earlier onboarding, or it belongs to another account that took the
 * name since. Its roles stay as they are: what an owner or a platform admin took away does not come back.
 */
async function joinTenant(deps: StepDeps, onboarding: ProvedOnboarding, name: string): Promise<void> {
  const { intent } = onboarding
  const existing = await deps.kube.get(tenant, { name })
  if (existing === undefined || !isTenantOf(existing, intent.account)) {
    const { tenantName: _taken, ...nameless } = intent
    await deps.onboardings.move(onboarding, 'confirmed', { intent: nameless })
    throw new AppError('conflict', `another account took the name ${name} in the meantime: the next attempt uses another name`)
  }
}

/** Whether the Tenant that the onboarding has written, or found, is ended by somebody. One that is not written yet is not. */
async function isEnded({ kube }: StepDeps, { state, intent }: ProvedOnboarding): Promise<boolean> {
  if (intent.tenantName === undefined) return false
  const found = await kube.get(tenant, { name: intent.tenantName })
  if (found === undefined) return state === 'tenant-written'
  return isTenantOf(found, intent.account) && found.metadata.deletionTimestamp !== undefined
}

async function writeInstallation(deps: StepDeps, onboarding: NamedOnboarding): Promise<'written' | 'waiting'> {
  const { intent, installationId } = onboarding
  const { tenantName: namespace } = intent
  if (!(await isNamespaceReady(deps, namespace))) return 'waiting'
  const key = { namespace, name: installationName }
  const existing = await deps.kube.get(installation, key)
  // Before the named one ends or comes back, so that whatever was bound with a former ceiling is gone when the new one holds.
  if (existing === undefined || !isSameBinding(existing, onboarding)) await endSiblings(deps, onboarding)
  if (existing === undefined) {
    await deps.kube.create(installation, desiredInstallation(intent, installationId, namespace), manager)
  } else if (!isSameBinding(existing, onboarding)) {
    await replaceInstallation(deps, onboarding, existing)
    return 'waiting'
  } else {
    // The controllers ask GitHub at once: they may have found that this person was no owner.
    const receivedAt = new Date(intent.proof.provedAt)
    const wake = wakeText({ receivedAt, deliveryId: onboarding.id, pullRequest: undefined })
    await deps.kube.mergePatch(installation, key, { metadata: { annotations: { [wakeAnnotation]: wake } } }, manager)
  }
  await deps.onboardings.move(onboarding, 'installation-written')
  return 'written'
}

/** The other Apps of the account in the namespace: their ceilings follow the former binding. An owner binds them again. */
async function endSiblings(deps: StepDeps, onboarding: NamedOnboarding): Promise<void> {
  const { tenantName: namespace, account } = onboarding.intent
  for (const one of await deps.kube.list(installation, { namespace })) {
    const isOfAccount = one.spec.account.host === account.host && one.spec.account.id === account.id
    if (isOfAccount && one.metadata.name !== installationName) await replaceInstallation(deps, onboarding, one)
  }
}

/** The spec is immutable: a new proof makes a new Installation. The finalizer of the old one revokes its active tokens first. */
async function replaceInstallation(deps: StepDeps, { id, intent }: NamedOnboarding, existing: Installation): Promise<void> {
  const { uid, name, namespace = intent.tenantName, deletionTimestamp } = existing.metadata
  if (deletionTimestamp !== undefined) return
  const record: TenantAuditRecord = {
    action: 'installation.replaced',
    actor: userSubject(intent.account.host, intent.boundBy.id),
    namespace,
    object: `Installation/${namespace}/${name}`,
    outcome: 'allowed',
    reason: 'the account was bound again',
    details: { onboarding: id, installationId: existing.spec.installationId, uid: uid ?? '' },
  }
  await deps.audit.appendOnce(record, earlier => earlier.some(({ details }) => details['uid'] === uid))
  await deps.kube.delete(installation, { namespace, name }, defined({ uid }))
}

async function isNamespaceReady(deps: StepDeps, name: string): Promise<boolean> {
  const found = await deps.kube.get(namespaces, { name })
  return found?.metadata.labels?.[labels.tenant] === name && found.metadata.deletionTimestamp === undefined
}

function isSameBinding({ spec, metadata }: Installation, { intent, installationId }: NamedOnboarding): boolean {
  if (metadata.deletionTimestamp !== undefined) return false
  return (
    spec.installationId === installationId &&
    spec.account.id === intent.account.id &&
    spec.app === intent.app &&
    spec.boundBy.id === intent.boundBy.id &&
    canonicalJson(spec.ceiling) === canonicalJson(intent.ceiling)
  )
}

async function recordBinding({ audit, onboardings, log }: StepDeps, onboarding: NamedOnboarding): Promise<void> {
  const { id, intent } = onboarding
  // A run that ended before it advanced the state, or another replica, may have recorded it already.
  await audit.appendOnce(bindingRecord(onboarding), earlier => earlier.some(({ details }) => details['onboarding'] === id))
  await onboardings.move(onboarding, 'finished')
  log.info({ onboarding: id, tenant: intent.tenantName }, 'tenant onboarded')
}

function bindingRecord({ id, installationId, intent }: NamedOnboarding): TenantAuditRecord {
  const { account, boundBy, proof, ceiling, teams, tenantName } = intent
  return {
    action: 'tenant.onboarded',
    actor: userSubject(account.host, boundBy.id),
    namespace: tenantName,
    object: `Installation/${tenantName}/${installationName}`,
    outcome: 'allowed',
    reason: `${proof.method} proved at ${proof.provedAt}`,
    details: {
      onboarding: id,
      host: account.host,
      accountId: account.id,
      accountLogin: account.login,
      installationId,
      repositories: ceiling.repositories,
      permissions: ceiling.permissions,
      developerTeamIds: teams.map(({ id }) => id),
    },
  }
}
