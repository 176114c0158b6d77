// Temporary control planes for tests, benchmarks and soak runs: each has its own folder and ports, on loopback only, empty
// at every start. A start first ends what an earlier run left, also one that was killed, by its records.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import type { BinaryDeps } from '../binaries/ensure-binary.ts'
import { demandSpace, freeSpace } from '../host/disk-space.ts'
import { identify, isAlive, type ProcessIdentity } from '../processes/identity.ts'
import { withLock } from '../processes/lock.ts'
import { portHolder } from '../processes/port-holder.ts'
import { stopProcess } from '../processes/supervise.ts'
import { endDeadRuns } from '../processes/test-runs.ts'
import type { ClusterSettings, ControlPlanePorts } from '../settings.ts'
import type { AuthorizerAccess } from './authorization-config.ts'
import type { ControlPlane, ControlPlaneOptions } from './start.ts'
import { controlPlaneProcesses, startControlPlane } from './start.ts'

/** All that there are, so that each has ports of its own; a new one goes to the end. */
const names = [
  'test-cluster',
  'attack-cluster',
  'restart-cluster',
  'secrets-cluster',
  'given-cluster',
  'template-cluster',
  'soak-cluster',
  'previews-cluster',
  'memory-cluster',
  'bench-cluster',
  'test-server',
  'metrics-cluster',
  'access-cluster',
  'walls-cluster',
  'accounts-cluster',
  'halts-cluster',
  'authorizer-cluster',
  'layers-cluster',
] as const

export type ThrowAwayCluster = {
  /** Its folder below the state folder. */
  readonly name: (typeof names)[number]
  /** Hosts with ports of admission webhooks that see the API server's client certificate. */
  readonly webhookHosts?: readonly string[]
  /** As of `startControlPlane`. */
  readonly authorizer?: AuthorizerAccess
  readonly without?: ControlPlaneOptions['without']
  readonly beforeControllers?: ControlPlaneOptions['beforeControllers']
}

/** etcd makes files of 64 MB before it writes to them, and the audit log is kept whole. */
const neededSpace = { mebibytes: 500, files: 500 }

/** The cluster of the integration tests. */
export const testCluster: ThrowAwayCluster = { name: 'test-cluster' }

/** Added to the ports of the integration tests' control plane. The next 20 belong to the cluster and to what runs for it. */
export function portOffset({ name }: Pick<ThrowAwayCluster, 'name'>): number {
  return 20 * names.indexOf(name)
}

function folderOf(settings: ClusterSettings, cluster: ThrowAwayCluster): string {
  return join(settings.stateFolder, cluster.name)
}

/** Ends a control plane by its records and deletes its state. */
export async function removeTestCluster(deps: BinaryDeps, cluster: ThrowAwayCluster = testCluster): Promise<void> {
  const folder = folderOf(deps.settings, cluster)
  const folders = { records: join(folder, 'processes'), logs: join(folder, 'logs') }
  for (const name of controlPlaneProcesses) await stopProcess(name, folders, 5000)
  await rm(folder, { recursive: true, force: true })
}

/** Who started a control plane: when that process is gone, nobody uses it. */
function ownerFile(settings: ClusterSettings, cluster: ThrowAwayCluster): string {
  return join(folderOf(settings, cluster), 'owner.json')
}

/** Held while a control plane gets another owner, and while those without one are ended. */
function ownersLock({ stateFolder }: ClusterSettings): string {
  return `${stateFolder}/owners-of-test-clusters`
}

/**
 * Ends what runs of tests left that were killed: their programs and temporary files, and the control planes whose owner is
 * gone.
 */
export async function endAbandonedClusters(deps: BinaryDeps): Promise<void> {
  const { settings, progress } = deps
  await withLock(ownersLock(settings), async () => {
    for (const line of await endDeadRuns(settings)) progress.note(line)
    for (const name of names) {
      const owner = await readFile(ownerFile(settings, { name }), 'utf8').then(
        text => JSON.parse(text) as ProcessIdentity,
        () => undefined,
      )
      if (owner === undefined || isAlive(owner)) continue
      await removeTestCluster(deps, { name })
      progress.note(`the process that used the control plane ${name} (pid ${owner.pid}) was killed: ended that`)
    }
  })
}

/** Throws when another process, such as a run of another checkout, listens on one of the ports. */
async function demandFreePorts(ports: ControlPlanePorts): Promise<void> {
  for (const port of Object.values(ports)) {
    const holder = await portHolder(port)
    if (holder === undefined) continue
    const who =
      holder.process === undefined
        ? 'a process of another user'
        : `${holder.process.executable} (pid ${holder.process.pid}, in ${holder.process.folder})`
    throw new AppError(
      'conflict',
      `port ${port} of the test control plane is in use by ${who}; wait for that run, or end the process if its run was killed, ` +
        'or choose other ports with SEKISHO_TEST_API_PORT, SEKISHO_TEST_ETCD_PORT, SEKISHO_TEST_ETCD_PEER_PORT and ' +
        'SEKISHO_TEST_CONTROLLER_MANAGER_PORT',
    )
  }
}

export async function startTestCluster(deps: BinaryDeps, cluster: ThrowAwayCluster = testCluster): Promise<ControlPlane> {
  const { settings } = deps
  await mkdir(settings.stateFolder, { recursive: true })
  demandSpace(settings.stateFolder, await freeSpace(settings.stateFolder), neededSpace, 'SEKISHO_STATE')
  await withLock(ownersLock(settings), async () => {
    await removeTestCluster(deps, cluster)
    await mkdir(folderOf(settings, cluster), { recursive: true })
    await writeFile(ownerFile(settings, cluster), JSON.stringify(identify(process.pid)))
  })
  const options = controlPlaneOf(settings, cluster)
  await demandFreePorts(options.ports)
  return startControlPlane(options, deps)
}

/** The running one with other settings; its objects stay. */
export async function changeTestCluster(deps: BinaryDeps, cluster: ThrowAwayCluster): Promise<void> {
  const { admin } = await startControlPlane(controlPlaneOf(deps.settings, cluster), deps)
  await admin.close()
}

function controlPlaneOf(settings: ClusterSettings, cluster: ThrowAwayCluster): ControlPlaneOptions {
  const folder = folderOf(settings, cluster)
  const { apiServer, etcdClient, etcdPeer, controllerManager } = settings.testPorts
  const offset = portOffset(cluster)
  const ports: ControlPlanePorts = {
    apiServer: apiServer + offset,
    etcdClient: etcdClient + offset,
    etcdPeer: etcdPeer + offset,
    controllerManager: controllerManager + offset,
  }
  return {
    folder,
    recordsFolder: join(folder, 'processes'),
    ports,
    bindAddress: '127.0.0.1',
    advertiseAddress: '127.0.0.1',
    publicAddress: '127.0.0.1',
    serviceCidr: settings.serviceCidr,
    serviceAddress: settings.serviceAddress,
    podCidr: settings.podCidr,
    clusterDomain: settings.clusterDomain,
    issuerUrl: settings.issuerUrl,
    webhookHosts: cluster.webhookHosts ?? [],
    ...(cluster.authorizer && { authorizer: cluster.authorizer }),
    ...(cluster.without && { without: cluster.without }),
    ...(cluster.beforeControllers && { beforeControllers: cluster.beforeControllers }),
    audited: 'platform',
  }
}
