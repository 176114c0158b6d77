// The admission process: an HTTPS server that answers AdmissionReviews by pure rules, and the loop that keeps its certificate. No
// database, no side effect, no data in an answer beyond why: anybody in the cluster's network could call it.
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createWebServer, listen, type WebServer } from '../web/server.ts'
import { createCertificate, type KeyPair } from '../web/tls.ts'
import { keepCertificates } from './certificate-keeper.ts'
import { fill, judge } from './dispatch.ts'
import type { PlatformIdentities } from './identities.ts'
import { type AdmissionRequest, admissionRequest } from './review.ts'
import { rules } from './rules/index.ts'
import type { StoredCertificates } from './serving-certificate.ts'

export type AdmissionDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'apply'>
  readonly clock: Clock
  readonly log: Log
  readonly identities: PlatformIdentities
  readonly address: { readonly host: string; readonly port: number }
  /** IP addresses under which the webhook is called besides its Service. */
  readonly extraAddresses?: readonly string[]
  /** How often certificate and trust are looked at. Default one minute. */
  readonly keepMilliseconds?: number
}

export type AdmissionApp = {
  /** Resolves with the port once the webhook answers and the API server trusts it. */
  readonly start: () => Promise<number>
  readonly stop: () => Promise<void>
  readonly ready: () => boolean
}

/** An object of 1.5 MB (etcd's limit) twice, escaped, with room to spare. */
const bodyLimit = 8 * 1024 * 1024
/** All requests come from the few API servers: a limit by address would refuse the whole cluster's writes. */
const requestsPerMinute = 1_000_000
const drainMilliseconds = 1000

export function createAdmissionApp(deps: AdmissionDeps): AdmissionApp {
  const stopping = new AbortController()
  let server: WebServer | undefined
  let keeping: Promise<void> | undefined

  return {
    async start() {
      const certificate = createCertificate(keyPair(await keepCertificates(deps)))
      server = await createWebServer({ log: deps.log, certificate, bodyLimit, requestsPerMinute })
      addRoutes(server, deps)
      const port = await listen(server, deps.address)
      keeping = keepForever(deps, stopping.signal, pair => {
        if (pair.certificate !== certificate.current().certificate) certificate.replace(pair)
      })
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

async function keepForever(deps: AdmissionDeps, signal: AbortSignal, replace: (pair: KeyPair) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      await deps.clock.sleep(deps.keepMilliseconds ?? 60_000, signal)
      replace(keyPair(await keepCertificates(deps)))
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

function addRoutes(server: WebServer, deps: AdmissionDeps): void {
  const review = (response: object): object => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
  const answer = (body: unknown, judgement: (request: AdmissionRequest) => object): object =>
    review(judgement(admissionRequest(body)))
  server.post('/validate', async (request, reply) =>
    answer(request.body, one =>
      judge({ rules, identities: deps.identities, log: deps.log, elapsedMilliseconds: () => reply.elapsedTime }, one),
    ),
  )
  server.post('/mutate', async request => answer(request.body, fill))
}
