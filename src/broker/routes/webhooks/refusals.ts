// Records webhook deliveries without a valid signature. Attackers can send any number, so they are recorded in aggregate: the
// first of each minute one by one, all others as one entry when the minute ends. A refusal never affects a delivery that is
// signed.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import { addressKey, clientAddress } from '../../../web/clients/client-key.ts'
import type { BrokerContext } from '../../context.ts'

const recordedEachMinute = 10
const addressesInSummary = 10
const minute = 60_000
/** GitHub's examples of all events are far smaller; a longer body that cannot be signed is not read to its end. */
const readAnyway = 64 * 1024

type RefusalContext = Pick<BrokerContext, 'log'> & {
  readonly store: { readonly audit: Pick<AuditLog, 'append'> }
  readonly metrics: Pick<BrokerContext['metrics'], 'refusedDelivery'>
}

export type Refusals = {
  /**
   * Rejects with `error` after the refusal is counted, and recorded within the bounds. `reason` is the error's message by
   * default.
   */
  readonly refuse: (request: FastifyRequest, error: unknown, reason?: string) => Promise<never>
  /** Refuses, before the body is read, a delivery whose header cannot be a signature of any body. */
  readonly requireSignatureHeader: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/** What was refused since the minute began. */
type Minute = { count: number; readonly addresses: Map<string, number>; readonly end: NodeJS.Timeout }

// Memory (refused webhooks): address → refusals of this minute
//   life: a minute
//   bound: 1,000 addresses
//   freshness: written as one audit record, after ten single ones
//   replicas: each counts: up to twice the records
/** The counters belong to one server; what they hold is recorded when it closes. */
export function createRefusals(server: FastifyInstance, { store, metrics, log }: RefusalContext): Refusals {
  let present: Minute | undefined

  const summarise = async (): Promise<void> => {
    const ended = present
    present = undefined
    if (ended === undefined) return
    clearTimeout(ended.end)
    const unrecorded = ended.count - recordedEachMinute
    if (unrecorded <= 0) return
    const addresses = Object.fromEntries([...ended.addresses].sort(([, a], [, b]) => b - a).slice(0, addressesInSummary))
    log.info({ unrecorded, addresses }, 'webhook deliveries refused')
    await append(`${unrecorded} more deliveries were refused in the same minute`, { refusalsThisMinute: ended.count, addresses })
  }
  const append = (reason: string, details: Parameters<AuditLog['append']>[0]['details']) =>
    store.audit.append({
      action: 'webhook.refused',
      actor: 'sekisho:webhook-inbox',
      object: 'Webhook',
      outcome: 'denied',
      reason,
      details,
    })
  const begin = (): Minute => {
    const end = setTimeout(() => {
      summarise().catch((error: unknown) => log.error({ error }, 'failed to record refused webhook deliveries'))
    }, minute)
    end.unref()
    return { count: 0, addresses: new Map(), end }
  }
  server.addHook('onClose', summarise)

  const refuse: Refusals['refuse'] = async (request, error, reason = messageOf(error)) => {
    present ??= begin()
    const { addresses } = present
    const address = clientAddress(request)
    const key = addressKey(address)
    present.count += 1
    metrics.refusedDelivery()
    if (addresses.has(key) || addresses.size < 1000) addresses.set(key, (addresses.get(key) ?? 0) + 1)
    if (present.count <= recordedEachMinute) {
      log.info({ address, reason }, 'webhook delivery refused')
      await append(reason, { address, refusalsThisMinute: present.count })
    }
    throw error
  }

  return {
    refuse,
    async requireSignatureHeader(request, reply) {
      const signature = request.headers['x-hub-signature-256']
      if (typeof signature === 'string' && /^sha256=[0-9a-f]{64}$/.test(signature)) return
      const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
      if (!(length <= readAnyway)) reply.header('connection', 'close')
      await refuse(request, new AppError('unauthenticated', 'the signature is not valid'))
    },
  }
}
