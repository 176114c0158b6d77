// The authorizer: one HTTPS server that API servers ask before RBAC, and the files that say whom it has no opinion about.
// It has no right in the cluster and no token, opens no database and calls nobody.
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createDrainedServer, type DrainedServer, type DrainTimes } from '../web/drained-server.ts'
import type { Certificate } from '../web/tls.ts'
import type { Answered } from './metrics.ts'
import type { Access } from './named-subjects.ts'
import { createAuthorizerServer } from './server.ts'

export type AuthorizerDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly address: { readonly host: string; readonly port: number }
  readonly certificate: Certificate
  readonly clientNames: readonly string[]
  readonly access: () => Access
  readonly answered: (answer: Answered) => void
  /** Without it the server ends at once: nobody else could serve instead. */
  readonly drain?: DrainTimes
}

/** The authorizer, which neither listens nor holds anything before `start`. */
export function createAuthorizerApp({ clock, address, drain, ...deps }: AuthorizerDeps): DrainedServer {
  const create = (onRequest: () => 'more' | 'last') => createAuthorizerServer({ ...deps, onRequest })
  return createDrainedServer({ clock, address, create, ...(drain && { drain }) })
}
