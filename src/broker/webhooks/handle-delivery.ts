// What one stored delivery does: wakes the objects concerned, ends the sign-ins of a person who withdrew the App, resumes onboardings that
// waited for an owner. Doing it twice is harmless: a wake is a hint, everything else looks at the state first.
import { userSubject, wakeAnnotation } from '../../api/names.ts'
import { keyText } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Log } from '../../lib/log.ts'
import type { ClaimedDelivery } from '../../store/inbox/inbox.ts'
import type { Store } from '../../store/store.ts'
import { resumeWaiting } from '../onboarding/approval.ts'
import type { BeginDeps } from '../onboarding/prove-binding.ts'
import { concernedBy, type KnownObjects } from './affected-objects.ts'
import { type GitHubEvent, githubEvent } from './github-event.ts'

export type DeliveryDeps = {
  readonly kube: Pick<KubeClient, 'mergePatch'>
  readonly store: Pick<Store, 'audit' | 'sessions' | 'users'>
  readonly known: () => KnownObjects
  readonly begin: BeginDeps
  readonly log: Log
}

const manager = { fieldManager: 'sekisho-broker' }

/** The value names moment and delivery, so that the woken controller can say how long the way took. */
function wakeValue(delivery: ClaimedDelivery): string {
  return `${delivery.receivedAt.toISOString()}/${delivery.deliveryId}`
}

async function wake(deps: DeliveryDeps, delivery: ClaimedDelivery, event: GitHubEvent): Promise<readonly string[]> {
  const patch = { metadata: { annotations: { [wakeAnnotation]: wakeValue(delivery) } } }
  const concerned = concernedBy(event, delivery.host, deps.known())
  await Promise.all(concerned.map(({ type, key }) => deps.kube.mergePatch(type, key, patch, manager)))
  return concerned.map(({ type, key }) => `${type.kind}/${keyText(key)}`)
}

async function endSignIns(deps: DeliveryDeps, host: string, userId: number): Promise<void> {
  await deps.store.users.remove(host, userId)
  const ended = await deps.store.sessions.revokeAllOf(host, userId)
  deps.log.info({ subject: userSubject(host, userId), ended }, 'a person withdrew the App: sign-ins ended')
}

/** Returns the outcome word for the inbox. Throws when it should be tried again. */
export async function handleDelivery(deps: DeliveryDeps, delivery: ClaimedDelivery): Promise<'woken' | 'ignored'> {
  const event = githubEvent(delivery.event, delivery.body)
  const woken = await wake(deps, delivery, event)
  if (event.event === 'github_app_authorization' && event.senderId !== undefined)
    await endSignIns(deps, delivery.host, event.senderId)
  const { requesterId, installationId } = event
  if (event.event === 'installation' && event.action === 'created' && requesterId !== undefined && installationId !== undefined)
    await resumeWaiting({ ...deps.begin, log: deps.log }, { host: delivery.host, requesterId, installationId })
  await deps.store.audit.append({
    action: 'webhook.received',
    actor: event.senderId === undefined ? `github|${delivery.host}` : userSubject(delivery.host, event.senderId),
    object: `Webhook/${delivery.deliveryId}`,
    outcome: 'allowed',
    reason: `${event.event}${event.action === undefined ? '' : `.${event.action}`}`,
    details: {
      host: delivery.host,
      repositoryId: event.repository?.id ?? null,
      woken: woken.slice(0, 50),
      wokenCount: woken.length,
    },
  })
  return woken.length > 0 ? 'woken' : 'ignored'
}
