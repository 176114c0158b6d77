// The admission webhook: the server that answers AdmissionReviews, and the loop that keeps its certificate current and trusted. It does not
// use the database and writes only its own Secret and its registrations.
import type { KubeClient } from '../kube/client/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import { listen, type WebServer } from '../web/server.ts'
import { createCertificate, type KeyPair } from '../web/tls.ts'
import { keepCertificates } from './certificate/certificate-keeper.ts'
import type { StoredCertificates } from './certificate/serving-certificate.ts'
import type { PlatformIdentities } from './identities.ts'
import { createReviewServer } from './review-server.ts'

/** What the webhook needs. */
export type AdmissionDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'apply'>
  readonly clock: Clock
  readonly log: Log
  readonly identities: PlatformIdentities
  readonly address: { readonly host: string; readonly port: number }
  /** IP addresses by which the webhook is called besides its Service. */
  readonly extraAddresses?: readonly string[]
  /** Pause between two checks of certificate and trust; a certificate that another replica renewed is served after it. Default 5 s. */
  readonly keepMilliseconds?: number
}

/** The webhook’s lifecycle; it starts once. */
export type AdmissionApp = {
  /** Resolves to the port when the webhook answers and the API server trusts its certificate. */
  readonly start: () => Promise<number>
  readonly stop: () => Promise<void>
  readonly ready: () => boolean
}

const drainMilliseconds = 1000
const defaultKeepMilliseconds = 5000
const trustSpreadsMilliseconds = 3000

/** The webhook; `start` renews the stored certificate if that is due. */
export function createAdmissionApp(deps: AdmissionDeps): AdmissionApp {
  let server: WebServer | undefined
  let keeping: Periodic | undefined

  return {
    async start() {
      const first = await keepCertificates(deps)
      const certificate = createCertificate(keyPair(first))
      server = await createReviewServer({ log: deps.log, certificate, identities: deps.identities })
      const port = await listen(server, deps.address)
      keeping = certificateLoop(deps, first, certificate.replace)
      keeping.start()
      return port
    },
    async stop() {
      const closing = server
      server = undefined
      await keeping?.stop()
      if (closing) await close(closing, deps.clock)
    },
    ready: () => server !== undefined,
  }
}

function keyPair(stored: StoredCertificates): KeyPair {
  return { certificate: stored.leaf.certificatePem, privateKey: stored.leaf.privateKeyPem }
}

/** Serves each new certificate, that of a new authority only when the API servers have had time to trust the authority. */
function certificateLoop(deps: AdmissionDeps, first: StoredCertificates, serve: (pair: KeyPair) => void): Periodic {
  const { clock, log } = deps
  let served = first
  return periodic({
    name: 'check of the admission certificate',
    everyMilliseconds: deps.keepMilliseconds ?? defaultKeepMilliseconds,
    waitsFirst: true,
    clock,
    log,
    async work(signal) {
      const next = await keepCertificates(deps)
      if (next.leaf.certificatePem === served.leaf.certificatePem) return
      // Each API server learns of a new authority by its own watch; until then it would refuse a certificate of that authority.
      if (next.authority.certificatePem !== served.authority.certificatePem) await clock.sleep(trustSpreadsMilliseconds, signal)
      serve(keyPair(next))
      served = next
    },
  })
}

/** Reviews in progress take milliseconds; idle connections that an API server keeps open would never end by themselves. */
async function close(server: WebServer, clock: Clock): Promise<void> {
  const closing = server.close()
  await Promise.race([closing, clock.sleep(drainMilliseconds)])
  server.server.closeAllConnections()
  await closing
}
