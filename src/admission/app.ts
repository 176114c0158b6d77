// The admission webhook: one HTTPS server that answers AdmissionReviews.
// It has no right in the cluster and no token, and calls nobody. It reads the serving certificate and the public key for values
// of AppSecrets from mounted files. It never writes its registrations: docs/adr/0029-who-calls-the-webhook.md.
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createDrainedServer, type DrainedServer, type DrainTimes } from '../web/drained-server.ts'
import type { Certificate } from '../web/tls.ts'
import type { FindSealer } from './app-secrets/public-key.ts'
import { createReviewServer } from './review-server.ts'

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

/** The webhook, which neither listens nor holds anything before `start`. */
export function createAdmissionApp(deps: AdmissionDeps): DrainedServer {
  const { clock, address, log, certificate, clientNames, findSealer, drain } = deps
  const optional = { ...(clientNames && { clientNames }), ...(findSealer && { findSealer }) }
  const create = (onRequest: () => 'more' | 'last') => createReviewServer({ log, certificate, ...optional, onRequest })
  return createDrainedServer({ clock, address, create, ...(drain && { drain }) })
}
