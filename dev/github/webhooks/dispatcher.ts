// Which App gets which event, and the sending and logging of each delivery. It never retries a delivery, like GitHub.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
import { randomUUID } from 'node:crypto'
import type { Faults } from '../faults/faults.ts'
import { installationCovers } from '../state/access.ts'
import type { App, Installation } from '../state/apps.ts'
import { appById, repositoryById } from '../state/github-state.ts'
import type { StateStore } from '../state/store.ts'
import { type Links, nodeId } from '../views/view.ts'
import { type Delivery, type Outcome, type Sender, unreachable } from './delivery.ts'
import { type DeliveryPlan, planDelivery } from './delivery-faults.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { createHookQueues } from './hook-queues.ts'
import { signSha1, signSha256 } from './signature.ts'

export type WebhookEvent = {
  readonly name: string
  readonly action: string | null
  /** The account whose installations get the event. */
  readonly accountId: number
  readonly repositoryId: number | null
  readonly payload: Readonly<Record<string, unknown>>
}

export type Webhooks = {
  /** Queues the event for every App that subscribes to it and is installed for the account and the repository. */
  emit(event: WebhookEvent): void
  /** Queues an event about an installation for its App, subscribed or not. */
  emitTo(installation: Installation, event: Omit<WebhookEvent, 'accountId' | 'repositoryId'>): void
  /** Queues an event about the App itself, without an installation. */
  emitToApp(app: App, event: Omit<WebhookEvent, 'accountId' | 'repositoryId'>): void
  /** Sends a logged delivery again under the same GUID; `false` when the log no longer shows it. */
  redeliver(appId: number, deliveryId: number): boolean
  readonly log: DeliveryLog
  /** Resolves when nothing is queued or in progress. */
  idle(): Promise<void>
  /** Drops the queue and resolves when nothing is in progress. */
  stop(): Promise<void>
}

export type WebhookDeps = {
  readonly store: StateStore
  readonly links: Links
  readonly faults: Faults
  readonly sender: Sender
  readonly log: DeliveryLog
  readonly now: () => number
  /** Reports failures that no caller waits for. */
  readonly report: (message: string) => void
}

/** GitHub does not deliver a payload above 25 MB. */
const largestPayload = 25 * 1024 * 1024

type Job = Pick<Delivery, 'guid' | 'event' | 'action' | 'installationId' | 'repositoryId' | 'redelivery'> & {
  readonly body: string
}

function headersOf(app: App, job: Job, enterpriseHost: string | undefined): Record<string, string> {
  return {
    accept: '*/*',
    'content-type': app.webhookEncoding === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
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
  }
}

const arrived: Outcome = { status: 'OK', statusCode: 200, response: { headers: {}, payload: '' } }

/** A dispatcher over the given sender and log. */
export function createWebhooks(deps: WebhookDeps): Webhooks {
  const queues = createHookQueues()

  /** Sends one copy of a job, or records what its faults say, and logs it. */
  const deliver = async (app: App, url: string, job: Job, { lost }: DeliveryPlan): Promise<void> => {
    const headers = headersOf(app, job, deps.links.flavour === 'enterprise-server' ? new URL(deps.links.webUrl).host : undefined)
    const started = deps.now()
    const clock = performance.now()
    const { body, ...facts } = job
    const lostAs = lost === 'success' ? arrived : unreachable
    const outcome = lost === undefined ? await deps.sender.send(url, headers, body) : lostAs
    await deps.log.add({
      appId: app.id,
      ...facts,
      url,
      deliveredAt: new Date(started).toISOString(),
      duration: Math.round(performance.now() - clock) / 1000,
      ...outcome,
      request: { headers, payload: body },
    })
  }

  const queue = (app: App, plan: DeliveryPlan, run: () => Promise<void>): void => {
    if (plan.later !== undefined) queues.addLater(app.id, run, plan.later)
    else if (plan.behindNext !== undefined) queues.addBehindNext(app.id, run, plan.behindNext)
    else queues.add(app.id, run)
  }

  const enqueue = (app: App, job: Job): void => {
    const url = app.webhookUrl
    if (url === null || Buffer.byteLength(job.body) > largestPayload) return
    const plan = planDelivery(deps.faults, job)
    if (plan.lost === 'nothing') return
    const second = plan.twice === 'new guid' ? { ...job, guid: randomUUID() } : job
    for (const copy of plan.twice === undefined ? [job] : [job, second]) {
      queue(app, plan, () =>
        deliver(app, url, copy, plan).catch((error: unknown) =>
          deps.report(`failed to log webhook ${copy.event}: ${error instanceof Error ? error.message : 'unknown error'}`),
        ),
      )
    }
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
      body:
        app.webhookEncoding === 'form'
          ? new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
          : JSON.stringify(payload),
    })
  }

  return {
    log: deps.log,
    emit: event => {
      const { state } = deps.store
      const repository = event.repositoryId === null ? undefined : repositoryById(state, event.repositoryId)
      for (const installation of state.installations.filter(
        one => one.accountId === event.accountId && one.suspendedAt === null,
      )) {
        const app = appById(state, installation.appId)
        if (!app?.events.includes(event.name)) continue
        if (event.repositoryId !== null && !(repository && installationCovers(installation, repository))) continue
        send(app, installation, event)
      }
    },
    emitTo: (installation, event) => {
      const app = appById(deps.store.state, installation.appId)
      if (app) send(app, installation, { ...event, repositoryId: null })
    },
    emitToApp: (app, event) => send(app, undefined, { ...event, repositoryId: null }),
    redeliver: (appId, deliveryId) => {
      const app = appById(deps.store.state, appId)
      const delivery = deps.log.find(appId, deliveryId)
      if (!app || !delivery) return false
      const { guid, event, action, installationId, repositoryId } = delivery
      enqueue(app, { guid, event, action, installationId, repositoryId, redelivery: true, body: delivery.request.payload })
      return true
    },
    idle: queues.idle,
    stop: queues.stop,
  }
}
