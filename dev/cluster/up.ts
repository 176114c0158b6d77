// Starts the development cluster from any state: nothing, running, partly running, interrupted, another checkout's remains.
// Builds run one after the other in the order of need, while the programs that exist already start.
import { constants } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/lib/errors.ts'
import { catalog } from './binaries/catalog.ts'
import { ensureBinary } from './binaries/ensure-binary.ts'
import type { AuthorizerAccess } from './control-plane/authorization-config.ts'
import { adminUser } from './control-plane/certificates.ts'
import type { ApiServerLayer } from './control-plane/programs.ts'
import type { ControlPlane } from './control-plane/start.ts'
import { startControlPlane } from './control-plane/start.ts'
import { isAccessible } from './file-access.ts'
import { processFolder } from './host/record.ts'
import { settleHost } from './host/settle-host.ts'
import { traefikUser } from './node/access.ts'
import { devProcessFolders, nodeLayout } from './node/layout.ts'
import { installMissing } from './node/packages.ts'
import { type NodePrograms, startNode } from './node/start.ts'
import { openAuthority } from './pki/authority.ts'
import { withLock } from './processes/lock.ts'
import type { Progress } from './progress.ts'
import type { ClusterSettings } from './settings.ts'
import { devClusterFolder } from './settings.ts'

export type UpOptions = { readonly settings: ClusterSettings; readonly progress: Progress; readonly controlPlaneOnly: boolean }

export function clusterLock(settings: ClusterSettings): string {
  return join(settings.hostRecordFolder, 'cluster.lock')
}

/** Starts or repairs the cluster; resolves to the path of the administrator's kubeconfig. */
export async function up(options: UpOptions): Promise<string> {
  const { settings, progress } = options
  if (settings.givenKubeconfig !== undefined) {
    await requireReadable(settings.givenKubeconfig)
    progress.note(`KUBECONFIG is set: using the cluster of ${settings.givenKubeconfig}, starting none`)
    return settings.givenKubeconfig
  }
  const waiting = (pid: number): void => progress.note(`waiting for another "up" or "down" (pid ${pid}) to end`)
  return withLock(clusterLock(settings), () => upLocked(options), waiting)
}

/**
 * Has the API server of the running cluster go without these layers; every `up` gives it all of them again, as does an empty
 * list. Resolves when it is ready. It is restarted where its arguments change.
 */
export async function upWithout(
  deps: Pick<UpOptions, 'settings' | 'progress'>,
  without: readonly ApiServerLayer[],
): Promise<void> {
  const options = { ...deps, controlPlaneOnly: false }
  await withLock(clusterLock(deps.settings), async () => {
    const { admin } = await bootControlPlane(options, { hasNode: true, without })
    await admin.close()
  })
}

/** KUBECONFIG may be a list, in which kubectl ignores absent files; at least one must exist. */
async function requireReadable(list: string): Promise<void> {
  const present = await Promise.all(list.split(':').map(path => isAccessible(path, constants.R_OK)))
  if (!present.includes(true)) {
    throw new AppError(
      'invalid_configuration',
      `KUBECONFIG names no readable file: ${list}; correct it, or unset it to use the local cluster`,
    )
  }
}

async function upLocked(options: UpOptions): Promise<string> {
  const { settings, progress } = options
  const withNode = settings.root && !options.controlPlaneOnly
  if (!settings.root) progress.note('not root: starting a control plane only; pods cannot run')
  const hasNode = await settleHost(settings, progress, withNode)
  const deps = { settings, progress }
  const etcd = await ensureBinary(catalog.etcd, deps)
  const kubernetes = await ensureBinary(catalog.kubernetes, deps)
  progress.note(`etcd from ${etcd.source}, Kubernetes from ${kubernetes.source}`)
  if (!withNode) return (await bootControlPlane(options, { hasNode })).kubeconfig

  // A failure of a later build is reported where its result is awaited, so it must not count as unhandled before.
  const pause = ensureBinary(catalog.pause, deps)
  const networkPolicies = pause.then(() => ensureBinary(catalog.networkPolicies, deps))
  const coredns = networkPolicies.then(() => ensureBinary(catalog.coredns, deps))
  const traefik = coredns.then(() => ensureBinary(catalog.traefik, deps))
  for (const build of [pause, networkPolicies, coredns, traefik]) build.catch(() => {})

  await installMissing(progress)
  const controlPlane = await bootControlPlane(options, { hasNode })
  const first = { kubernetes, pause: await pause, networkPolicies: await networkPolicies }
  await bootNode(options, controlPlane, { ...first, coredns, traefik })
  return controlPlane.kubeconfig
}

type Boot = { readonly hasNode: boolean; readonly without?: readonly ApiServerLayer[] }

async function bootControlPlane(options: UpOptions, { hasNode, without }: Boot): Promise<ControlPlane> {
  const { settings, progress } = options
  const folder = devClusterFolder(settings)
  const reachable = hasNode && !settings.nodeAddress.startsWith('127.')
  const address = reachable ? settings.nodeAddress : '127.0.0.1'
  const controlPlane = await progress.step('control plane', () =>
    startControlPlane(
      {
        folder,
        recordsFolder: processFolder(settings.hostRecordFolder),
        ports: settings.ports,
        // Clients use the node address (pods) and loopback (people): two addresses need the wildcard.
        bindAddress: reachable ? '0.0.0.0' : '127.0.0.1',
        advertiseAddress: address,
        publicAddress: address,
        serviceAddress: settings.serviceAddress,
        serviceCidr: settings.serviceCidr,
        podCidr: settings.podCidr,
        clusterDomain: settings.clusterDomain,
        issuerUrl: settings.issuerUrl,
        webhookHosts: ['sekisho-admission.sekisho-system.svc', 'sekisho-access-records.sekisho-system.svc'],
        // Without a node nothing could answer at a service address.
        ...(reachable && { authorizer: authorizerAccess(settings) }),
        audited: 'everybody',
        ...(without && { without }),
      },
      { settings, progress },
    ),
  )
  await issueBrokerCertificate(settings)
  progress.note(`control plane ready: ${controlPlane.admin.server}, kubeconfig ${controlPlane.kubeconfig}`)
  return controlPlane
}

const authorizerName = 'sekisho-authorizer.sekisho-system.svc'

/** Whoever makes the cluster, and the ingress controller, which lists the certificates of Ingresses. */
function authorizerAccess({ authorizerAddress }: ClusterSettings): AuthorizerAccess {
  return { server: `https://${authorizerAddress}`, serverName: authorizerName, unasked: [adminUser, traefikUser] }
}

async function bootNode(options: UpOptions, controlPlane: ControlPlane, programs: NodePrograms): Promise<void> {
  const { settings, progress } = options
  const layout = nodeLayout(settings)
  const context = { settings, layout, controlPlane, folders: devProcessFolders(settings), progress }
  await startNode(context, programs, join(layout.folder, 'pki'))
  await controlPlane.admin.close()
}

/**
 * Issues the serving certificates of the issuer, of the admission webhook, of the authorizer and of the registry's token server,
 * signed by the authority in the API server's authentication file.
 */
export async function issueBrokerCertificate(settings: ClusterSettings): Promise<void> {
  const authority = await openAuthority(join(devClusterFolder(settings), 'pki'), 'ca', 'sekisho-dev-ca')
  const service = 'sekisho-broker.sekisho-system'
  await authority.leaf('broker', {
    commonName: 'sekisho-broker',
    usage: 'server',
    names: ['localhost', `${service}.svc`, `${service}.svc.${settings.clusterDomain}`, 'sekisho.sekisho-system.svc'],
    addresses: [...new Set([settings.nodeAddress, '127.0.0.1'])],
  })
  const webhook = 'sekisho-admission.sekisho-system'
  await authority.leaf('admission', {
    commonName: 'sekisho-admission',
    usage: 'server',
    names: [`${webhook}.svc`, `${webhook}.svc.${settings.clusterDomain}`],
  })
  await authority.leaf('authorizer', { commonName: 'sekisho-authorizer', usage: 'server', names: [authorizerName] })
  await authority.leaf('registry-tokens', {
    commonName: 'sekisho-registry-tokens',
    usage: 'server',
    names: ['sekisho-registry-tokens.sekisho-system.svc'],
    addresses: [settings.registryTokenAddress],
  })
}
