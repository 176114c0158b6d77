// The admission process: the server that answers AdmissionReviews, and the loop that keeps its certificate current and trusted. It has no
// database and no side effect but on its own Secret and registrations.
import type { KubeClient } from '../kube/client/client.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { listen, type WebServer } from '../web/server.ts'
import { createCertificate, type KeyPair } from '../web/tls.ts'
import { keepCertificates } from './certificate/certificate-keeper.ts'
import type { StoredCertificates } from './certificate/serving-certificate.ts'
import type { PlatformIdentities } from './identities.ts'
import { createReviewServer } from './review-server.ts'

export type AdmissionDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'apply'>
  readonly clock: Clock
  readonly log: Log
  readonly identities: PlatformIdentities
  readonly address: { readonly host: string; readonly port: number }
  /** IP addresses under which the webhook is called besides its Service. */
  readonly extraAddresses?: readonly string[]
  /** How often certificate and trust are looked at: what another replica renewed is served so much later. Default 5 s. */
  readonly keepMilliseconds?: number
}

export type AdmissionApp = {
  /** Resolves with the port once the webhook answers and the API server trusts it. */
  readonly start: () => Promise<number>
  readonly stop: () => Promise<void>
  readonly ready: () => boolean
}

const drainMilliseconds = 1000
const defaultKeepMilliseconds = 5000
const trustSpreadsMilliseconds = 3000

export function createAdmissionApp(deps: AdmissionDeps): AdmissionApp {
  const stopping = new AbortController()
  let server: WebServer | undefined
  let keeping: Promise<void> | undefined

  return {
    async start() {
      const first = await keepCertificates(deps)
      const certificate = createCertificate(keyPair(first))
      server = await createReviewServer({ log: deps.log, certificate, identities: deps.identities })
      const port = await listen(server, deps.address)
      keeping = keepForever(deps, stopping.signal, first, next => certificate.replace(keyPair(next)))
      return port
    },
    async stop() {
      stopping.abort()
      await keeping
      if (server) await closed(server, deps.clock)
      server = undefined
    },
    ready: () => server !== undefined && !stopping.signal.aborted,
  }
}

function keyPair(stored: StoredCertificates): KeyPair {
  return { certificate: stored.leaf.certificatePem, privateKey: stored.leaf.privateKeyPem }
}

async function keepForever(
  deps: AdmissionDeps,
  signal: AbortSignal,
  first: StoredCertificates,
  serve: (next: StoredCertificates) => void,
): Promise<void> {
  let served = first
  while (!signal.aborted) {
    try {
      await deps.clock.sleep(deps.keepMilliseconds ?? defaultKeepMilliseconds, signal)
      const next = await keepCertificates(deps)
      if (next.leaf.certificatePem === served.leaf.certificatePem) continue
      // API servers learn of a new authority by their watch, each in its own time: until then they would refuse what it signed.
      if (next.authority.certificatePem !== served.authority.certificatePem)
        await deps.clock.sleep(trustSpreadsMilliseconds, signal)
      serve(next)
      served = next
    } catch (error) {
      if (!signal.aborted) deps.log.error({ problem: messageOf(error) }, 'the admission certificate could not be checked')
    }
  }
}

/** Reviews under way take milliseconds; connections that an API server opened ahead of need would be waited for without end. */
async function closed(server: WebServer, clock: Clock): Promise<void> {
  const closing = server.close()
  await Promise.race([closing, clock.sleep(drainMilliseconds)])
  server.server.closeAllConnections()
  await closing
}
