// What one stored delivery does: wakes the affected objects, ends the sign-ins of a person who revoked the App, resumes
// onboardings that waited for an owner. Safe to repeat: a wake is a hint, and everything else reads the state first.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { userSubject, type WokenPullRequest, wakeAnnotation, wakeText } from '../../api/names.ts'
import { keyText } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Log } from '../../lib/log.ts'
import type { ClaimedDelivery } from '../../store/inbox/inbox.ts'
import type { BrokerStore } from '../../store/store.ts'
import { resumeWaiting } from '../onboarding/approval/owner-approval.ts'
import type { OnboardingDeps } from '../onboarding/prove-binding.ts'
import { endSignIns } from '../people/end-sign-ins.ts'
import { type AffectedObject, affectedObjects } from './affected-objects.ts'
import type { CandidateReader } from './candidate-reader.ts'
import { type GitHubEvent, isAboutPullRequest, parseGitHubEvent } from './github-event.ts'

export type DeliveryDeps = {
  readonly kube: Pick<KubeClient, 'mergePatch'>
  readonly store: Pick<BrokerStore, 'audit' | 'oidc' | 'sessions' | 'users'>
  readonly candidates: CandidateReader
  readonly onboarding: OnboardingDeps
  readonly log: Log
}

type Affected = readonly AffectedObject[]

const manager = { fieldManager: 'sekisho-broker' }

/** Returns the outcome word for the inbox. Rejects when the delivery must be retried. */
export async function handleDelivery(deps: DeliveryDeps, delivery: ClaimedDelivery): Promise<'woken' | 'ignored'> {
  const { host } = delivery
  const event = parseGitHubEvent(delivery.event, delivery.body)
  const affected = affectedObjects(event, deps.candidates(event, host))
  await wakeAll(deps, affected, delivery, wokenPullRequest(event))
  await endWithdrawn(deps, event, host)
  await resumeOnboardings(deps, event, host)
  await deps.store.audit.append(receivedRecord(event, delivery, affected))
  return affected.length > 0 ? 'woken' : 'ignored'
}

function wokenPullRequest(event: GitHubEvent): WokenPullRequest | undefined {
  return isAboutPullRequest(event) ? (event.pullRequest ?? 'unknown') : undefined
}

/** The value holds time and delivery, so that the woken controller can measure the time since the webhook arrived. */
async function wakeAll(
  { kube }: DeliveryDeps,
  affected: Affected,
  { receivedAt, deliveryId }: ClaimedDelivery,
  pullRequest: WokenPullRequest | undefined,
): Promise<void> {
  const patch = { metadata: { annotations: { [wakeAnnotation]: wakeText({ receivedAt, deliveryId, pullRequest }) } } }
  await Promise.all(affected.map(({ type, key }) => kube.mergePatch(type, key, patch, manager)))
}

async function endWithdrawn({ store, log }: DeliveryDeps, { event, senderId }: GitHubEvent, host: string): Promise<void> {
  if (event !== 'github_app_authorization' || senderId === undefined) return
  const actor = userSubject(host, senderId)
  const ended = await endSignIns({ store }, { host, userId: senderId, actor, cause: 'withdrew the App on GitHub' })
  log.info({ subject: actor, ...ended }, 'person withdrew the App: sign-ins ended')
}

async function resumeOnboardings({ onboarding }: DeliveryDeps, event: GitHubEvent, host: string): Promise<void> {
  const { requesterId, installationId } = event
  if (event.event !== 'installation' || event.action !== 'created') return
  if (requesterId !== undefined && installationId !== undefined)
    await resumeWaiting(onboarding, { host, requesterId, installationId })
}

function receivedRecord(event: GitHubEvent, { host, deliveryId }: ClaimedDelivery, affected: Affected): AuditRecord {
  const woken = affected.slice(0, 50).map(({ type, key }) => `${type.kind}/${keyText(key)}`)
  return {
    action: 'webhook.received',
    actor: event.senderId === undefined ? `github|${host}` : userSubject(host, event.senderId),
    object: `Webhook/${deliveryId}`,
    outcome: 'allowed',
    reason: `${event.event}${event.action === undefined ? '' : `.${event.action}`}`,
    details: { host, repositoryId: event.repository?.id ?? null, woken, wokenCount: affected.length },
  }
}
