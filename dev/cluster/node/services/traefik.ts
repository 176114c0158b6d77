// The ingress controller: Traefik as a host process, on the node address and on loopback, for Ingresses of class `traefik`.
// It listens nowhere else, and Ingresses are its only configuration.
import { Agent, request } from 'node:http'
import type { AdminClient } from '../../control-plane/admin-client.ts'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import type { ClusterSettings } from '../../settings.ts'
import { waitUntil } from '../../wait-until.ts'
import type { NodeContext } from '../layout.ts'

export const ingressClass = 'traefik'
const readyMilliseconds = 60_000

export function traefikArguments(settings: ClusterSettings): readonly string[] {
  const addresses = [...new Set([settings.nodeAddress, '127.0.0.1'])]
  return [
    ...addresses.map(
      (address, index) => `--entrypoints.web${index === 0 ? '' : '-local'}.address=${address}:${settings.ingressPort}`,
    ),
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

/** Every response shows that Traefik listens; a host without an Ingress gets 404. */
function statusOf(address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    const call = request(
      { host: address, port, path: '/', agent, timeout: 2000, headers: { host: 'nobody.localhost' } },
      answer => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    call.on('timeout', () => call.destroy(new Error('no answer within 2 s')))
    call.on('error', reject)
    call.end()
  })
}

export async function startTraefik(context: NodeContext, path: string, kubeconfig: string): Promise<void> {
  const { settings, folders } = context
  await applyIngressClass(context.controlPlane.admin)
  const program = {
    name: 'traefik',
    path,
    args: traefikArguments(settings),
    environment: { KUBECONFIG: kubeconfig },
    configurationFiles: [kubeconfig],
  }
  await ensureRunning(program, folders)
  for (const address of new Set([settings.nodeAddress, '127.0.0.1'])) {
    await waitUntil(
      `Traefik at ${address}:${settings.ingressPort}`,
      async () => ((await statusOf(address, settings.ingressPort)) === 404 ? true : undefined),
      {
        timeoutMilliseconds: readyMilliseconds,
        hopeless: () => hasEnded('traefik', folders),
      },
    )
  }
}
