// The ingress controller: Traefik as a host process, on the node address and on loopback, by http and by https, for Ingresses
// of class `traefik`. It listens nowhere else. Ingresses are its configuration, and a file with the middleware that those of
// `spec.redirects` name.
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import type { AdminClient } from '../../control-plane/admin-client.ts'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import { replaceFile } from '../../replace-file.ts'
import type { ClusterSettings } from '../../settings.ts'
import type { NodeContext } from '../layout.ts'

export const ingressClass = 'traefik'

const wwwMiddleware = 'www'

/** SEKISHO_REDIRECT_ANNOTATIONS for this ingress. */
export const redirectAnnotations = `traefik.ingress.kubernetes.io/router.middlewares=${wwwMiddleware}@file`

/**
 * The file of Traefik's file provider. The middleware takes `www.` off the host and keeps scheme, port, path and query: its
 * expression is matched with the whole URL.
 * https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/redirectregex/
 */
export function traefikFile(): string {
  const redirectRegex = { regex: '^(https?)://www[.](.+)$', replacement: '$1://$2', permanent: true }
  return stringify({ http: { middlewares: { [wwwMiddleware]: { redirectRegex } } } })
}

function addressesOf({ nodeAddress }: ClusterSettings): readonly string[] {
  return [...new Set([nodeAddress, '127.0.0.1'])]
}

const readyMilliseconds = 60_000

/**
 * `file`: the path of `traefikFile`. A router without entry points of its own has all of them, and TLS where the entry point
 * has it.
 */
export function traefikArguments(settings: ClusterSettings, file: string): readonly string[] {
  const entryPoints = addressesOf(settings).flatMap((address, index) => {
    const end = index === 0 ? '' : '-local'
    return [
      `--entrypoints.web${end}.address=${address}:${settings.ingressPort}`,
      `--entrypoints.websecure${end}.address=${address}:${settings.ingressTlsPort}`,
      `--entrypoints.websecure${end}.http.tls=true`,
    ]
  })
  return [
    ...entryPoints,
    `--providers.file.filename=${file}`,
    '--providers.kubernetesingress=true',
    `--providers.kubernetesingress.ingressclass=${ingressClass}`,
    `--providers.kubernetesingress.ingressendpoint.ip=${settings.nodeAddress}`,
    '--providers.kubernetesingress.throttleduration=100ms',
    // 503 for an Application whose pods do not answer or that is suspended, instead of the 404 of a host that nobody has.
    '--providers.kubernetesingress.allowemptyservices=true',
    // The default of 2 s would show a new Ingress, or an old pod, for that long after a rollout.
    '--providers.providersthrottleduration=100ms',
    '--global.checknewversion=false',
    '--global.sendanonymoususage=false',
    '--log.level=WARN',
  ]
}

export async function applyIngressClass(admin: AdminClient): Promise<void> {
  await admin.apply(`/apis/networking.k8s.io/v1/ingressclasses/${ingressClass}`, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: ingressClass, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'traefik.io/ingress-controller' },
  })
}

/**
 * Every response shows that Traefik listens; a host without an Ingress gets 404, by https with a certificate that nobody
 * signed.
 */
function statusOf(url: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, timeout: 2000, headers: { host: 'nobody.localhost' }, rejectUnauthorized: false }
    const call = (url.protocol === 'https:' ? secureRequest : request)(url, options, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    call.on('timeout', () => call.destroy(new Error('no answer within 2 s')))
    call.on('error', reject)
    call.end()
  })
}

export async function startTraefik(context: NodeContext, path: string, kubeconfig: string): Promise<void> {
  const { settings, folders } = context
  await applyIngressClass(context.controlPlane.admin)
  const file = join(context.layout.folder, 'config', 'traefik.yaml')
  await replaceFile(file, traefikFile())
  const program = {
    name: 'traefik',
    path,
    args: traefikArguments(settings, file),
    environment: { KUBECONFIG: kubeconfig },
    configurationFiles: [kubeconfig],
  }
  await ensureRunning(program, folders)
  const { ingressPort, ingressTlsPort } = settings
  const origins = addressesOf(settings).flatMap(at => [`http://${at}:${ingressPort}`, `https://${at}:${ingressTlsPort}`])
  for (const origin of origins) {
    await waitUntil(`Traefik at ${origin}`, async () => (await statusOf(new URL(origin))) === 404, {
      timeoutMilliseconds: readyMilliseconds,
      hopeless: () => hasEnded('traefik', folders),
    })
  }
}
