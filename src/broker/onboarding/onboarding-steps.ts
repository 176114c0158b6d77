// Carries a confirmed onboarding forward, one remembered state at a time, from wherever it stopped: Tenant, then (once the Tenant
// controller made the namespace) Installation, then the audit record. The only writer of these objects; every step may run again.

import type { TenantAuditRecord } from '../../api/audit-event.ts'
import { namespaces } from '../../api/builtin/index.ts'
import { type Installation, installation } from '../../api/github/installation.ts'
import { labels, userSubject } from '../../api/names.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import type { Log } from '../../lib/log.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { Onboarding, Onboardings } from '../../store/onboardings.ts'
import { desiredInstallation, desiredTenant, installationName, widenedRoles } from './desired.ts'
import { intentData, intentOf, type ProvedIntent, provedIntentOf } from './intent.ts'
import { tenantNameCandidates } from './tenant-name.ts'

export type AdvanceDeps = {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>
  readonly onboardings: Onboardings
  readonly audit: Pick<AuditLog, 'appendOnce'>
  readonly log: Log
}

/** `waiting`: the namespace is not there yet, or a former Installation is still being deleted. */
export type Progress = 'finished' | 'waiting' | 'unconfirmed'

const manager = { fieldManager: 'sekisho-broker' }

function isSameAccount(existing: Tenant, intent: ProvedIntent): boolean {
  return existing.spec.account.host === intent.account.host && existing.spec.account.id === intent.account.id
}

async function freeName(deps: AdvanceDeps, intent: ProvedIntent): Promise<string> {
  const known = (await deps.kube.list(tenant)).find(existing => isSameAccount(existing, intent))
  if (known !== undefined) return known.metadata.name
  for (const name of tenantNameCandidates(intent.account)) {
    const taken = (await deps.kube.get(tenant, { name })) ?? (await deps.kube.get(namespaces, { name }))
    if (taken === undefined) return name
  }
  throw new AppError('conflict', `no free name for ${intent.account.login}: a platform admin has to create the Tenant`)
}

async function writeTenant(deps: AdvanceDeps, onboarding: Onboarding): Promise<Onboarding> {
  const intent = provedIntentOf(onboarding)
  const name = intent.tenantName ?? (await freeName(deps, intent))
  // The name is remembered before it is used: after a crash the same one is taken up again.
  if (intent.tenantName === undefined)
    await deps.onboardings.advance(onboarding.id, 'proved', { data: intentData({ ...intent, tenantName: name }) })
  try {
    await deps.kube.create(tenant, desiredTenant(intent, name), manager)
  } catch (error) {
    if (!isKubeError(error, 409)) throw error
    await joinTenant(deps, intent, name, onboarding)
  }
  return deps.onboardings.advance(onboarding.id, 'tenant-written')
}

/** The Tenant exists: ours from an earlier run or an earlier onboarding, or somebody else's that took the name in between. */
async function joinTenant(deps: AdvanceDeps, intent: ProvedIntent, name: string, onboarding: Onboarding): Promise<void> {
  const existing = await deps.kube.get(tenant, { name })
  if (existing === undefined || !isSameAccount(existing, intent)) {
    const { tenantName: _taken, ...nameless } = intent
    await deps.onboardings.advance(onboarding.id, 'proved', { data: intentData(nameless) })
    throw new AppError('conflict', `the name ${name} was taken meanwhile: trying another`)
  }
  const roles = widenedRoles(existing, intent)
  const { resourceVersion } = existing.metadata
  if (roles !== undefined)
    await deps.kube.mergePatch(tenant, { name }, { metadata: { resourceVersion }, spec: { roles } }, manager)
}

async function namespaceReady(deps: AdvanceDeps, name: string): Promise<boolean> {
  const found = await deps.kube.get(namespaces, { name })
  return found?.metadata.labels?.[labels.tenant] === name && found.metadata.deletionTimestamp === undefined
}

async function writeInstallation(deps: AdvanceDeps, onboarding: Onboarding): Promise<Onboarding | 'waiting'> {
  const intent = provedIntentOf(onboarding)
  const { installationId } = onboarding
  const { tenantName } = intent
  if (tenantName === undefined || installationId === undefined)
    throw new AppError('integrity_violation', `onboarding ${onboarding.id} has lost its tenant or installation`)
  if (!(await namespaceReady(deps, tenantName))) return 'waiting'
  const key = { namespace: tenantName, name: installationName }
  const existing = await deps.kube.get(installation, key)
  if (existing === undefined) {
    await deps.kube.create(installation, desiredInstallation(intent, installationId, tenantName), manager)
  } else if (!isSameBinding(existing, installationId, intent)) {
    // Immutable by design: a new proof makes a new Installation. The old one's finalizer revokes its live tokens first.
    const { uid } = existing.metadata
    await deps.kube.delete(installation, key, uid === undefined ? {} : { uid })
    return 'waiting'
  }
  return deps.onboardings.advance(onboarding.id, 'installation-written')
}

function isSameBinding(existing: Installation, installationId: number, intent: ProvedIntent): boolean {
  const { spec, metadata } = existing
  if (metadata.deletionTimestamp !== undefined) return false
  return (
    spec.installationId === installationId &&
    spec.account.id === intent.account.id &&
    spec.app === intent.app &&
    spec.boundBy.id === intent.boundBy.id &&
    canonicalJson(spec.ceiling) === canonicalJson(intent.ceiling)
  )
}

async function recordBinding({ audit, onboardings }: AdvanceDeps, onboarding: Onboarding): Promise<void> {
  // An earlier run that did not live to say so, or another replica, may have told it.
  await audit.appendOnce(bindingRecord(onboarding), earlier =>
    earlier.some(({ details }) => details['onboarding'] === onboarding.id),
  )
  await onboardings.advance(onboarding.id, 'finished')
}

function bindingRecord(onboarding: Onboarding): TenantAuditRecord {
  const { account, boundBy, proof, ceiling, teams, tenantName = '' } = provedIntentOf(onboarding)
  return {
    action: 'tenant.onboarded',
    actor: userSubject(account.host, boundBy.id),
    namespace: tenantName,
    object: `Installation/${tenantName}/${installationName}`,
    outcome: 'allowed',
    reason: `${proof.method} proved at ${proof.provedAt}`,
    details: {
      onboarding: onboarding.id,
      host: account.host,
      accountId: account.id,
      accountLogin: account.login,
      installationId: onboarding.installationId ?? 0,
      repositories: ceiling.repositories,
      permissions: ceiling.permissions,
      developerTeamIds: teams.map(({ id }) => id),
    },
  }
}

export async function advanceOnboarding(deps: AdvanceDeps, started: Onboarding): Promise<Progress> {
  if (!intentOf(started).confirmed) return 'unconfirmed'
  let current = started
  if (current.state === 'proved') current = await writeTenant(deps, current)
  if (current.state === 'tenant-written') {
    const next = await writeInstallation(deps, current)
    if (next === 'waiting') return 'waiting'
    current = next
  }
  if (current.state === 'installation-written') {
    await recordBinding(deps, current)
    deps.log.info({ onboarding: current.id, tenant: intentOf(current).tenantName }, 'tenant onboarded')
  }
  return 'finished'
}
