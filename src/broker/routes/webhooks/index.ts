// The webhook inbox, in this order: a header that may be a signature → the bytes as received → HMAC over exactly these bytes →
// JSON → event agrees with the body → the fields that we read are stored → 202, also for another App, of which nothing is stored.
// Nothing but the signature is trusted, and nothing is decided here. Bodies are up to GitHub's 25 MB and never held in memory.
// Unsigned deliveries, however many, never cause the refusal of a signed one: all may share an address.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { BrokerStore } from '../../../store/store.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import type { BrokerGitHub } from '../../github.ts'
import type { BrokerMetrics } from '../../metrics.ts'
import { type DeliveryHeaders, foreignReason } from '../../webhooks/delivering-app.ts'
import { reduceDelivery } from '../../webhooks/github-event.ts'
import { bodyLimit, type ReceivedBody, receiveBody } from '../../webhooks/receive-body.ts'
import { unlimited } from '../limits.ts'
import { createLargeBodies, type LargeBodies } from './large-bodies.ts'
import { createRefusals, type Refusals } from './refusals.ts'

/** The parts of the broker that the inbox needs. */
export type WebhookContext = {
  readonly settings: Pick<BrokerSettings, 'webhookSecret' | 'formerWebhookSecret'>
  readonly store: Pick<BrokerStore, 'audit' | 'inbox'>
  readonly github: Pick<BrokerGitHub, 'ourApps'>
  readonly metrics: Pick<BrokerMetrics, 'ignoredDelivery' | 'formDelivery' | 'receivedDelivery' | 'refusedDelivery'>
  readonly inbox: { readonly wake: () => void }
  readonly clock: Clock
  readonly log: Log
}

type Delivery = { Body: ReceivedBody | undefined }

const webhookPath = '/webhooks/github'
/** What GitHub sends when a webhook is set to it. Its signature covers the bytes of the form. */
const formType = 'application/x-www-form-urlencoded'
/** Each holds at most about 256 KB. */
const maxLargeBodies = 64

/** In a scope of its own, whose content type parser reads nothing but the bytes. */
export async function registerWebhooks(server: WebServer, context: WebhookContext): Promise<void> {
  await server.register(scope => registerInbox(scope, context))
}

function registerInbox(scope: FastifyInstance, context: WebhookContext): void {
  const { store, github, inbox, clock, metrics } = context
  const refusals = createRefusals(scope, context)
  receiveBytes(scope, secretsOf(context.settings), createLargeBodies({ most: maxLargeBodies }))

  // GitHub may send bursts from few addresses. Signed deliveries are bounded by what the store takes, which answers 503 when it
  // falls behind.
  const options = { bodyLimit, config: unlimited, onRequest: refusals.requireSignatureHeader } as const
  scope.post<Delivery>(webhookPath, options, async (request, reply) => {
    const body = await requireSigned(request, refusals)
    await requireJson(request, refusals, metrics)
    const name = requireHeader(request, 'X-GitHub-Event', /^[a-z_]{1,60}$/)
    const deliveryId = requireHeader(request, 'X-GitHub-Delivery', /^[A-Za-z0-9-]{8,64}$/)
    const content = await recordRefusal(refusals, request, 'a signed body is not a JSON object', body.content)
    const disagreement = `header and body disagree about the event ${name}`
    const { event, kept } = await recordRefusal(refusals, request, disagreement, () => reduceDelivery(name, content))
    const ours = github.ourApps()
    const foreign = foreignReason(deliveryHeaders(request), event, ours)
    if (foreign !== undefined) {
      metrics.ignoredDelivery(foreign)
      return reply.code(202).send({ delivery: 'ignored' })
    }
    const { host } = ours.endpoints
    const { action } = event
    const stored = await store.inbox.receive({ deliveryId, event: name, action, host, receivedAt: clock.now(), body: kept })
    metrics.receivedDelivery(stored)
    if (stored === 'stored') inbox.wake()
    return reply.code(202).send({ delivery: stored })
  })
}

function secretsOf({ webhookSecret, formerWebhookSecret }: WebhookContext['settings']): readonly SecretString[] {
  return formerWebhookSecret === undefined ? [webhookSecret] : [webhookSecret, formerWebhookSecret]
}

/** The HMAC covers the raw bytes; re-serialised JSON would not match. */
function receiveBytes(scope: FastifyInstance, secrets: readonly SecretString[], large: LargeBodies): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(['application/json', formType], (request: FastifyRequest, payload: IncomingMessage) => {
    const length = header(request, 'content-length')
    return receiveBody(payload, { secrets, length: length === undefined ? undefined : Number(length), large })
  })
}

async function requireSigned(request: FastifyRequest<Delivery>, refusals: Refusals): Promise<ReceivedBody> {
  const { body } = request
  if (body === undefined) throw new AppError('invalid_request', 'the body is missing')
  if (body.isSigned(header(request, 'x-hub-signature-256'))) return body
  return refusals.refuse(request, new AppError('unauthenticated', 'the signature is not valid'))
}

/** Only after the signature was verified: the message and the metric are for whoever administers the App. */
async function requireJson(request: FastifyRequest, refusals: Refusals, metrics: WebhookContext['metrics']): Promise<void> {
  if (!header(request, 'content-type')?.toLowerCase().startsWith(formType)) return
  metrics.formDelivery()
  const message =
    'the delivery is form-encoded, which cannot be read: set “Content type: application/json” in the settings of the webhook on GitHub (for the webhook of an App by API: PATCH /app/hook/config with content_type=json), then redeliver it'
  await refusals.refuse(request, new AppError('invalid_request', message))
}

function requireHeader(request: FastifyRequest, name: string, pattern: RegExp): string {
  const value = header(request, name.toLowerCase())
  if (value !== undefined && pattern.test(value)) return value
  throw new AppError('invalid_request', `${name} is missing or malformed`)
}

/** Runs a step on a signed body. When the step refuses the body, the refusal is recorded before it is passed on. */
async function recordRefusal<T>(refusals: Refusals, request: FastifyRequest, reason: string, step: () => T): Promise<T> {
  try {
    return step()
  } catch (error) {
    return refusals.refuse(request, error, reason)
  }
}

function deliveryHeaders(request: FastifyRequest): DeliveryHeaders {
  return {
    targetType: header(request, 'x-github-hook-installation-target-type'),
    targetId: header(request, 'x-github-hook-installation-target-id'),
    enterpriseHost: header(request, 'x-github-enterprise-host'),
  }
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}
