// The admission process over TLS on loopback, with its Secret and registrations in memory: what it is asked is up to the test.
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { createAdmissionApp } from '../../../src/admission/app.ts'
import { platformIdentities } from '../../../src/admission/identities.ts'
import { registrations } from '../../../src/admission/registrations.ts'
import { validatingWebhookConfigurations } from '../../../src/api/builtin/index.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import type { KubeObject } from '../../../src/api/resource.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { type Log, silentLog } from '../../../src/lib/log.ts'
import { createMemoryKube, type MemoryKube } from './memory-kube.ts'

export type Answer = {
  readonly status: number
  readonly body: unknown
  readonly fingerprint: string
  readonly headers: IncomingHttpHeaders
}

export type TlsTarget = { readonly port: number; readonly ca: string; readonly servername: string }

/** One request on one connection of its own: each is a handshake. Rejects when the certificate is not trusted. */
export function ask(
  target: TlsTarget,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port: target.port,
        servername: target.servername,
        ca: target.ca,
        path,
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      },
      response => {
        const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate()
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : text
          resolve({ status: response.statusCode ?? 0, body: parsed, fingerprint: fingerprint256, headers: response.headers })
        })
      },
    )
    asked.once('error', reject)
    asked.end(body)
  })
}

export type AdmissionSite = {
  readonly kube: MemoryKube
  /** As the API server sees it now: the port, and whom its registration tells it to trust. */
  readonly target: () => Promise<TlsTarget>
  readonly stop: () => Promise<void>
}

export async function startAdmissionSite(
  options: { readonly clock?: Clock; readonly log?: Log; readonly keepMilliseconds?: number } = {},
): Promise<AdmissionSite> {
  const kube = createMemoryKube()
  for (const registration of registrations({ kind: 'service' })) kube.put(registration as unknown as KubeObject)
  const app = createAdmissionApp({
    client: kube.client,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
    identities: platformIdentities('standalone'),
    address: { host: '127.0.0.1', port: 0 },
    ...(options.keepMilliseconds === undefined ? {} : { keepMilliseconds: options.keepMilliseconds }),
  })
  const port = await app.start()
  return {
    kube,
    async target() {
      const registration = await kube.client.get(validatingWebhookConfigurations, { name: 'sekisho-admission' })
      const encoded = registration?.webhooks?.[0]?.clientConfig.caBundle ?? ''
      return { port, ca: Buffer.from(encoded, 'base64').toString(), servername: `sekisho-admission.${platformNamespace}.svc` }
    },
    stop: app.stop,
  }
}
