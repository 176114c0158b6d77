// The webhook inbox of GitHub. Order: raw bytes → signature over exactly these bytes → event agrees with the body → stored → 202.
// Nothing is decided here; nothing but the signature is believed. 25 MB on this route only, GitHub's own limit.
// Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { verifyWebhook } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import type { SecretString } from '../../../lib/secret-string.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { githubEvent } from '../../webhooks/github-event.ts'

export const webhookPath = '/webhooks/github'
const bodyLimit = 25 * 1024 * 1024
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

export async function registerWebhooks(server: WebServer, context: BrokerContext): Promise<void> {
  const { settings, store, github, inbox, clock, log } = context
  const secrets: readonly SecretString[] = [
    settings.webhookSecret,
    ...(settings.formerWebhookSecret ? [settings.formerWebhookSecret] : []),
  ]
  const refusals = { since: 0, count: 0 }

  const recordRefusal = async (request: FastifyRequest, reason: string): Promise<void> => {
    const now = clock.now().getTime()
    if (now - refusals.since > 60_000) Object.assign(refusals, { since: now, count: 0 })
    refusals.count += 1
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
    // The bytes as they came: a signature over parsed and written JSON would be one over other bytes.
    scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (_request, body, next) => next(null, body))

    // A sender without the secret gets few tries a minute, and then not even its body read. GitHub delivers far less than the outer limit.
    const refusedTries = scope.createRateLimit({ max: refusalsPerMinute, timeWindow: 60_000 })
    const config = { rateLimit: { max: 1200, timeWindow: 60_000 } }
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      const tries = await refusedTries(request, { increment: false })
      if (!tries.isAllowed && tries.isExceeded)
        throw new AppError('too_many_requests', 'too many unsigned deliveries', { retryAfterSeconds: 60 })
    }
    scope.post(webhookPath, { bodyLimit, config, onRequest }, async (request, reply) => {
      const { body } = request
      if (!Buffer.isBuffer(body)) throw new AppError('invalid_request', 'the body is missing')
      if (!(await verifyWebhook(secrets, body, header(request, 'x-hub-signature-256')))) {
        await refusedTries(request)
        await recordRefusal(request, 'the signature does not hold')
        throw new AppError('unauthenticated', 'the signature does not hold')
      }
      const { event, deliveryId } = deliveryOf(request)
      const facts = await agreed(request, event, body)
      const { host } = github.app().endpoints
      const stored = await store.inbox.receive({ deliveryId, event, action: facts.action, host, receivedAt: clock.now(), body })
      if (stored === 'stored') inbox.poke()
      return reply.code(202).send({ delivery: stored })
    })
  }

  const agreed = async (request: FastifyRequest, event: string, body: Buffer) => {
    try {
      return githubEvent(event, body)
    } catch (error) {
      await recordRefusal(request, `header and body disagree about the event ${event}`)
      throw error
    }
  }

  await server.register(inboxRoute)
}
