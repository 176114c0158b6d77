// Owns: which App hears of which event, and the queue per hook that keeps the order. Never repeats a delivery by itself: GitHub does
// not either. https://docs.github.com/en/webhooks/webhook-events-and-payloads
import { randomUUID } from 'node:crypto'
import { installationCovers } from '../access.ts'
import type { Faults } from '../faults.ts'
import { type Links, nodeId } from '../links.ts'
import type { App, Installation } from '../state/apps.ts'
import type { WorldStore } from '../state/store.ts'
import { appById, repositoryById } from '../state/world.ts'
import type { Delivery, Sender } from './delivery.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { signSha1, signSha256 } from './signature.ts'

export type WebhookEvent = {
  readonly name: string
  readonly action: string | null
  /** Account whose installations hear of it. */
  readonly accountId: number
  readonly repositoryId: number | null
  readonly payload: Readonly<Record<string, unknown>>
}

export type Webhooks = {
  /** Queues the event for every App that is subscribed to it and installed where it happened. */
  emit(event: WebhookEvent): void
  /** Queues an event about an installation itself; every App gets those of its own, subscribed or not. */
  emitTo(installation: Installation, event: Omit<WebhookEvent, 'accountId' | 'repositoryId'>): void
  /** Queues an event that concerns the App as such and no installation. */
  emitToApp(app: App, event: Omit<WebhookEvent, 'accountId' | 'repositoryId'>): void
  /** Sends a logged delivery again under the same GUID; `false` when it is not in the log. */
  redeliver(appId: number, deliveryId: number): boolean
  readonly log: DeliveryLog
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>
  /** Drops what is queued and resolves when nothing is under way. */
  stop(): Promise<void>
}

export type WebhookDeps = {
  readonly store: WorldStore
  readonly links: Links
  readonly faults: Faults
  readonly sender: Sender
  readonly log: DeliveryLog
  readonly now: () => number
  /** Told what no caller waits for. */
  readonly report: (message: string) => void
}

/** GitHub does not deliver a payload above 25 MB. */
const largestPayload = 25 * 1024 * 1024
/** Deliveries waiting per hook; beyond it the oldest promise of order would cost too much memory, so new ones are lost. */
const longestQueue = 10_000

type Job = Pick<Delivery, 'guid' | 'event' | 'action' | 'installationId' | 'repositoryId' | 'redelivery'> & {
  readonly body: string
}

const headersOf = (app: App, job: Job, enterpriseHost: string | undefined): Record<string, string> => ({
  accept: '*/*',
  'content-type': 'application/json',
  'user-agent': 'GitHub-Hookshot/0000000',
  'x-github-delivery': job.guid,
  'x-github-event': job.event,
  'x-github-hook-id': String(app.id),
  'x-github-hook-installation-target-id': String(app.id),
  'x-github-hook-installation-target-type': 'integration',
  ...(enterpriseHost === undefined
    ? {}
    : { 'x-github-enterprise-host': enterpriseHost, 'x-github-enterprise-version': '3.19.0' }),
  'x-hub-signature': signSha1(app.webhookSecret, job.body),
  'x-hub-signature-256': signSha256(app.webhookSecret, job.body),
})

/** A dispatcher over the given sender and log. */
export const createWebhooks = (deps: WebhookDeps): Webhooks => {
  let stopped = false
  const queues = new Map<number, { waiting: number; tail: Promise<void> }>()

  const deliver = async (app: App, url: string, job: Job): Promise<void> => {
    const headers = headersOf(app, job, deps.links.flavour === 'enterprise-server' ? new URL(deps.links.webUrl).host : undefined)
    const started = deps.now()
    const outcome = await deps.sender.send(url, headers, job.body)
    const { body, ...facts } = job
    await deps.log.add({
      appId: app.id,
      ...facts,
      url,
      deliveredAt: new Date(started).toISOString(),
      duration: (deps.now() - started) / 1000,
      ...outcome,
      request: { headers, payload: body },
    })
  }

  const enqueue = (app: App, job: Job): void => {
    const url = app.webhookUrl
    if (url === null || Buffer.byteLength(job.body) > largestPayload) return
    if (deps.faults.take('lost-webhook', fault => fault.event === '' || fault.event === job.event)) return
    const queue = queues.get(app.id) ?? { waiting: 0, tail: Promise.resolve() }
    if (queue.waiting >= longestQueue) return
    queue.waiting += 1
    queue.tail = queue.tail
      .then(() => (stopped ? undefined : deliver(app, url, job)))
      .catch(error =>
        deps.report(`webhook ${job.event} was not logged: ${error instanceof Error ? error.message : 'unknown error'}`),
      )
      .finally(() => {
        queue.waiting -= 1
      })
    queues.set(app.id, queue)
  }

  const send = (app: App, installation: Installation | undefined, event: Omit<WebhookEvent, 'accountId'>): void => {
    const reference = installation && { id: installation.id, node_id: nodeId('IntegrationInstallation', installation.id) }
    const payload = {
      ...(event.action === null ? {} : { action: event.action }),
      ...(reference ? { installation: reference } : {}),
      ...event.payload,
    }
    enqueue(app, {
      guid: randomUUID(),
      event: event.name,
      action: event.action,
      installationId: installation?.id ?? null,
      repositoryId: event.repositoryId,
      redelivery: false,
      body: JSON.stringify(payload),
    })
  }

  const idle = async (): Promise<void> => {
    while ([...queues.values()].some(queue => queue.waiting > 0)) await Promise.all([...queues.values()].map(queue => queue.tail))
  }

  return {
    log: deps.log,
    emit: event => {
      const { world } = deps.store
      const repository = event.repositoryId === null ? undefined : repositoryById(world, event.repositoryId)
      for (const installation of world.installations.filter(
        one => one.accountId === event.accountId && one.suspendedAt === null,
      )) {
        const app = appById(world, installation.appId)
        if (!app?.events.includes(event.name)) continue
        if (event.repositoryId !== null && !(repository && installationCovers(installation, repository))) continue
        send(app, installation, event)
      }
    },
    emitTo: (installation, event) => {
      const app = appById(deps.store.world, installation.appId)
      if (app) send(app, installation, { ...event, repositoryId: null })
    },
    emitToApp: (app, event) => send(app, undefined, { ...event, repositoryId: null }),
    redeliver: (appId, deliveryId) => {
      const app = appById(deps.store.world, appId)
      const delivery = deps.log.find(appId, deliveryId)
      if (!app || !delivery) return false
      const { guid, event, action, installationId, repositoryId } = delivery
      enqueue(app, { guid, event, action, installationId, repositoryId, redelivery: true, body: delivery.request.payload })
      return true
    },
    idle,
    stop: () => {
      stopped = true
      return idle()
    },
  }
}
