// Refused deliveries: recorded in the log and, up to a bound, in the audit log; and the limit on senders without the secret.
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { WebServer } from '../../../web/server.ts'

/** More refusals than this say nothing new, and would let a stranger fill the audit log. */
const auditedRefusalsPerMinute = 10
const refusalsPerMinute = 30
const minute = 60_000

export type Refusals = {
  /** Logs and audits a refusal. */
  readonly record: (request: FastifyRequest, reason: string) => Promise<void>
  /** Counts an unsigned delivery against its sender's address. */
  readonly count: (request: FastifyRequest) => Promise<void>
  /** Rejects with `too_many_requests`, before the body is read, for an address that sent too many unsigned deliveries. */
  readonly limitSender: (request: FastifyRequest) => Promise<void>
}

export type RefusalDeps = {
  /** Makes the counters of one server. */
  readonly createRateLimit: WebServer['createRateLimit']
  readonly audit: Pick<AuditLog, 'append'>
  readonly clock: Clock
  readonly log: Log
}

export function createRefusals({ createRateLimit, audit, clock, log }: RefusalDeps): Refusals {
  const refused = { since: 0, count: 0, last: 0 }
  const unsigned = createRateLimit({ max: refusalsPerMinute, timeWindow: minute })
  return {
    async record(request, reason) {
      const now = clock.now().getTime()
      if (now - refused.since > minute) Object.assign(refused, { since: now, count: 0 })
      refused.count += 1
      refused.last = now
      log.info({ address: request.ip, reason }, 'webhook delivery refused')
      if (refused.count > auditedRefusalsPerMinute) return
      await audit.append({
        action: 'webhook.refused',
        actor: 'sekisho:webhook-inbox',
        object: 'Webhook',
        outcome: 'denied',
        reason,
        details: { address: request.ip, refusalsThisMinute: refused.count },
      })
    },
    async count(request) {
      await unsigned(request)
    },
    async limitSender(request) {
      // The usual case, in which nobody sends unsigned deliveries, costs nothing.
      if (clock.now().getTime() - refused.last > minute) return
      const sent = await unsigned(request, { increment: false })
      if (!sent.isAllowed && sent.isExceeded)
        throw new AppError('too_many_requests', 'too many unsigned deliveries: wait a minute', { retryAfterSeconds: 60 })
    },
  }
}
