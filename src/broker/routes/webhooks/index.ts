// The webhook inbox of GitHub. Order: bytes as they come → signature over exactly these bytes → event agrees with the body → what we read of
// it is stored → 202. The payload itself stays with GitHub, which shows it in the App's list of deliveries.
// Nothing is decided here; nothing but the signature is believed. 25 MB on this route only, GitHub's own limit, and none of it in memory.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { Store } from '../../../store/store.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import { readGitHubEvent } from '../../webhooks/github-event.ts'
import type { InboxWorker } from '../../webhooks/inbox-worker.ts'
import { bodyLimit, type ReceivedBody, receiveBody } from '../../webhooks/receive-body.ts'

/** The parts of the broker that the inbox needs. */
export type WebhookContext = {
  readonly settings: Pick<BrokerSettings, 'webhookSecret' | 'formerWebhookSecret'>
  readonly store: Pick<Store, 'audit' | 'inbox'>
  readonly github: { readonly app: () => { readonly endpoints: { readonly host: string } } }
  readonly inbox: Pick<InboxWorker, 'poke'>
  readonly clock: Clock
  readonly log: Log
}

export const webhookPath = '/webhooks/github'
/** Refusals recorded in the audit log a minute; more say nothing new and would let a stranger fill it. */
const auditedRefusalsPerMinute = 10
const refusalsPerMinute = 30

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

function deliveryOf(request: FastifyRequest): { readonly event: string; readonly deliveryId: string } {
  const event = header(request, 'x-github-event')
  const deliveryId = header(request, 'x-github-delivery')
  if (event === undefined || !/^[a-z_]{1,60}$/.test(event))
    throw new AppError('invalid_request', 'X-GitHub-Event is missing or malformed')
  if (deliveryId === undefined || !/^[A-Za-z0-9-]{8,64}$/.test(deliveryId))
    throw new AppError('invalid_request', 'X-GitHub-Delivery is missing or malformed')
  return { event, deliveryId }
}

export async function registerWebhooks(server: WebServer, context: WebhookContext): Promise<void> {
  const { settings, store, github, inbox, clock, log } = context
  const secrets: readonly SecretString[] = [
    settings.webhookSecret,
    ...(settings.formerWebhookSecret ? [settings.formerWebhookSecret] : []),
  ]
  const refusals = { since: 0, count: 0, last: 0 }

  const recordRefusal = async (request: FastifyRequest, reason: string): Promise<void> => {
    const now = clock.now().getTime()
    if (now - refusals.since > 60_000) Object.assign(refusals, { since: now, count: 0 })
    refusals.count += 1
    refusals.last = now
    log.info({ address: request.ip, reason }, 'webhook refused')
    if (refusals.count > auditedRefusalsPerMinute) return
    await store.audit.append({
      action: 'webhook.refused',
      actor: 'sekisho:webhook-inbox',
      object: 'Webhook',
      outcome: 'denied',
      reason,
      details: { address: request.ip, refusalsThisMinute: refusals.count },
    })
  }

  const inboxRoute: FastifyPluginAsync = async scope => {
    scope.removeAllContentTypeParsers()
    // The bytes as they come: a signature over parsed and written JSON would be one over other bytes.
    scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) => {
      const length = header(request, 'content-length')
      return receiveBody(payload, { secrets, length: length === undefined ? undefined : Number(length) })
    })

    // A sender without the secret gets few tries a minute, and then not even its body read. GitHub itself may come in bursts from few
    // addresses: what is signed is bounded by what the store takes, which answers 503 when it does not keep up.
    const refusedTries = scope.createRateLimit({ max: refusalsPerMinute, timeWindow: 60_000 })
    const config = { rateLimit: false } as const
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      if (clock.now().getTime() - refusals.last > 60_000) return
      const tries = await refusedTries(request, { increment: false })
      if (!tries.isAllowed && tries.isExceeded)
        throw new AppError('too_many_requests', 'too many unsigned deliveries', { retryAfterSeconds: 60 })
    }
    scope.post<{ Body: ReceivedBody | undefined }>(webhookPath, { bodyLimit, config, onRequest }, async (request, reply) => {
      const { body } = request
      if (body === undefined) throw new AppError('invalid_request', 'the body is missing')
      if (!body.isSigned(header(request, 'x-hub-signature-256'))) {
        await refusedTries(request)
        await recordRefusal(request, 'the signature does not hold')
        throw new AppError('unauthenticated', 'the signature does not hold')
      }
      const { event, deliveryId } = deliveryOf(request)
      const content = await readable(request, body)
      const { facts, kept } = await agreed(request, event, content)
      const { host } = github.app().endpoints
      const stored = await store.inbox.receive({
        deliveryId,
        event,
        action: facts.action,
        host,
        receivedAt: clock.now(),
        body: kept,
      })
      if (stored === 'stored') inbox.poke()
      return reply.code(202).send({ delivery: stored })
    })
  }

  const readable = async (request: FastifyRequest, body: ReceivedBody): Promise<Buffer> => {
    try {
      return body.content()
    } catch (error) {
      await recordRefusal(request, 'a signed body is no JSON object')
      throw error
    }
  }

  const agreed = async (request: FastifyRequest, event: string, body: Buffer) => {
    try {
      return readGitHubEvent(event, body)
    } catch (error) {
      await recordRefusal(request, `header and body disagree about the event ${event}`)
      throw error
    }
  }

  await server.register(inboxRoute)
}
