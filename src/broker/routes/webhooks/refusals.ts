// Refused deliveries: recorded in the log and, up to a bound, in the audit log; and the limit on senders without the secret.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { BrokerContext } from '../../context.ts'

/** More refusals than this say nothing new, and would let a stranger fill the audit log. */
const auditedRefusalsPerMinute = 10
const refusalsPerMinute = 30
const minute = 60_000

type RefusalContext = Pick<BrokerContext, 'clock' | 'log'> & { readonly store: { readonly audit: Pick<AuditLog, 'append'> } }

export type Refusals = {
  /** Rejects with `error` after the refusal is in the log, and in the audit log within its bound. `reason` is the error's message by default. */
  readonly refuse: (request: FastifyRequest, error: unknown, reason?: string) => Promise<never>
  /** Counts an unsigned delivery against the address of its sender. */
  readonly countUnsigned: (request: FastifyRequest) => Promise<unknown>
  /** Rejects with `too_many_requests`, before the body is read, when the address sent too many unsigned deliveries. */
  readonly limitSender: (request: FastifyRequest) => Promise<void>
}

/** The counters belong to one server. */
export function createRefusals(server: FastifyInstance, { store, clock, log }: RefusalContext): Refusals {
  const refused = { since: 0, count: 0, last: 0 }
  const unsigned = server.createRateLimit({ max: refusalsPerMinute, timeWindow: minute })
  return {
    async refuse(request, error, reason = messageOf(error)) {
      const now = clock.now().getTime()
      if (now - refused.since > minute) Object.assign(refused, { since: now, count: 0 })
      refused.count += 1
      refused.last = now
      const address = request.ip
      log.info({ address, reason }, 'webhook delivery refused')
      if (refused.count <= auditedRefusalsPerMinute)
        await store.audit.append({
          action: 'webhook.refused',
          actor: 'sekisho:webhook-inbox',
          object: 'Webhook',
          outcome: 'denied',
          reason,
          details: { address, refusalsThisMinute: refused.count },
        })
      throw error
    },
    countUnsigned: request => unsigned(request),
    async limitSender(request) {
      // The usual case, in which nobody sends unsigned deliveries, costs nothing.
      if (clock.now().getTime() - refused.last > minute) return
      const sent = await unsigned(request, { increment: false })
      if (!sent.isAllowed && sent.isExceeded)
        throw new AppError('too_many_requests', 'too many unsigned deliveries: wait a minute', { retryAfterSeconds: 60 })
    },
  }
}
