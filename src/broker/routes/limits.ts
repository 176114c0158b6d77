// How often one client may call a route. A person whom the browser or token proves has a limit of their own; strangers share
// the limit of their address, which is higher, because many people may stand behind one.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../lib/errors.ts'
import { clientKey, isProven, type ProvenClient } from '../../web/clients/client-key.ts'

const strangersBehindOneAddress = 10

/**
 * For a route's `config`: at most `max` requests a minute from one client, and ten times as many from all strangers at one
 * address. `proven` says who is a client, by default who the server's does.
 */
export function perMinute(max: number, proven?: ProvenClient) {
  const key = (request: FastifyRequest) => clientKey(request, proven)
  return { rateLimit: { ...minuteLimit(max), ...(proven ? { keyGenerator: key } : {}) } }
}

/** The same for `createRateLimit`, which counts when the route says so. */
export function minuteLimit(max: number) {
  return {
    max: (_request: unknown, key: string) => (isProven(key) ? max : max * strangersBehindOneAddress),
    timeWindow: 60_000,
  }
}

/** For routes that read and write nothing: refusing a request would cost as much as answering it. */
export const unlimited = { rateLimit: false } as const

/** Counts a request of a route that counts by itself. Rejects with `too_many_requests` when its client sent too many. */
export async function requireWithinLimit(
  limit: ReturnType<FastifyInstance['createRateLimit']>,
  request: FastifyRequest,
): Promise<void> {
  const counted = await limit(request)
  if (counted.isAllowed || !counted.isExceeded) return
  throw new AppError('too_many_requests', 'too many requests: try again later', { retryAfterSeconds: counted.ttlInSeconds })
}
