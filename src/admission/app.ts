// The admission webhook: one HTTPS server that answers AdmissionReviews, and how it leaves when it is replaced.
// It has no right in the cluster and no token, and calls nobody. It reads the serving certificate and the public key for values
// of AppSecrets from mounted files. It never writes its registrations: docs/adr/0029-who-calls-the-webhook.md.
import { type Clock, elapsed } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { PostServer } from '../web/post-server.ts'
import type { Certificate } from '../web/tls.ts'
import type { FindSealer } from './app-secrets/public-key.ts'
import { createReviewServer } from './review-server.ts'

/** How a replica leaves, in milliseconds. */
export type DrainTimes = {
  /** It serves at least this long after `stop`: until no API server chooses it for a new connection. */
  readonly atLeast: number
  /** Then it waits until no review came for this long. */
  readonly quiet: number
  /** It never serves longer than this. */
  readonly atMost: number
}

/**
 * For one of several replicas. Endpoints of a pod that ends are withdrawn within a second or two; the sum of this and of a
 * review must stay below the pod's `terminationGracePeriodSeconds` and below the time limit of runUntilStopped.
 */
export const replicaDrain: DrainTimes = { atLeast: 5000, quiet: 1000, atMost: 20_000 }

/** What the webhook needs. */
export type AdmissionDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly address: { readonly host: string; readonly port: number }
  readonly certificate: Certificate
  /** The common names of the client certificates that are accepted, when the certificate demands them. */
  readonly clientNames?: readonly string[]
  /** The public key for values of AppSecrets; without it they are refused. */
  readonly findSealer?: FindSealer
  /** Without it the server ends at once: nobody else could serve instead. */
  readonly drain?: DrainTimes
}

/** The webhook’s lifecycle; it starts once. */
export type AdmissionApp = {
  /** Resolves to the port when the webhook answers. */
  readonly start: () => Promise<number>
  /** Not ready from now on; resolves when the last review is answered. */
  readonly stop: () => Promise<void>
  readonly ready: () => boolean
}

const closeMilliseconds = 1000
const checkMilliseconds = 100

/** The webhook, which neither listens nor holds anything before `start`. */
export function createAdmissionApp(deps: AdmissionDeps): AdmissionApp {
  const { clock, drain } = deps
  let server: PostServer | undefined
  let draining = false
  let lastReview = 0

  const isOver = (since: number, { atLeast, quiet, atMost }: DrainTimes): boolean => {
    const now = elapsed(clock)
    return now - since >= atMost || (now - since >= atLeast && now - lastReview >= quiet)
  }

  const onRequest = (): 'more' | 'last' => {
    lastReview = elapsed(clock)
    // The API server then opens its next connection by the Service, which leads to another replica.
    return draining ? 'last' : 'more'
  }

  return {
    async start() {
      const { log, certificate, clientNames, findSealer } = deps
      const optional = { ...(clientNames && { clientNames }), ...(findSealer && { findSealer }) }
      server = createReviewServer({ log, certificate, ...optional, onRequest })
      return await server.listen(deps.address)
    },
    async stop() {
      const closing = server
      if (closing === undefined || draining) return
      draining = true
      const since = elapsed(clock)
      if (drain !== undefined) while (!isOver(since, drain)) await clock.sleep(checkMilliseconds)
      await close(closing, clock)
      server = undefined
    },
    ready: () => server !== undefined && !draining,
  }
}

/** Reviews in progress take milliseconds; idle connections that an API server keeps open would never end by themselves. */
async function close(server: PostServer, clock: Clock): Promise<void> {
  const closing = server.close()
  await Promise.race([closing, clock.sleep(closeMilliseconds)])
  server.closeAllConnections()
  await closing
}
