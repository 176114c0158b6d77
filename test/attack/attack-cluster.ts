// A throw-away API server of its own for the attacks: policies and webhooks are cluster-wide and would judge other tests' writes.
// Owns its start and end, and requests under any identity (the administrator impersonates).
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { readKubeconfig } from '../../dev/cluster/control-plane/kubeconfig.ts'
import { type ControlPlane, controlPlaneProcesses, startControlPlane } from '../../dev/cluster/control-plane/start.ts'
import { stopProcess } from '../../dev/cluster/processes/supervise.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import { loadKubeConnection } from '../../src/kube/kubeconfig.ts'
import { systemClock } from '../../src/lib/clock.ts'

export type Identity = { readonly user: string; readonly groups: readonly string[] }
export type Reply = { readonly status: number; readonly message: string; readonly body: unknown }

/** Far from the ports of the other test control plane. */
const portOffset = 20

export async function startAttackCluster() {
  const settings = readClusterSettings()
  const progress = standardErrorProgress()
  const folder = join(settings.stateFolder, 'attack-cluster')
  const folders = { records: join(folder, 'processes'), logs: join(folder, 'logs') }
  const end = async (): Promise<void> => {
    for (const name of controlPlaneProcesses) await stopProcess(name, folders, 5000)
    await rm(folder, { recursive: true, force: true })
  }
  await end()
  const { testPorts } = settings
  const controlPlane: ControlPlane = await startControlPlane(
    {
      folder,
      recordsFolder: folders.records,
      ports: {
        apiServer: testPorts.apiServer + portOffset,
        etcdClient: testPorts.etcdClient + portOffset,
        etcdPeer: testPorts.etcdPeer + portOffset,
        controllerManager: testPorts.controllerManager + portOffset,
      },
      bindAddress: '127.0.0.1',
      advertiseAddress: '127.0.0.1',
      publicAddress: '127.0.0.1',
      serviceCidr: settings.serviceCidr,
      serviceAddress: settings.serviceAddress,
      podCidr: settings.podCidr,
      clusterDomain: settings.clusterDomain,
      issuerUrl: settings.issuerUrl,
    },
    { settings, progress },
  )
  const environment = { KUBECONFIG: controlPlane.kubeconfig }
  const connection = await loadKubeConnection({ environment, clock: systemClock })
  const client = createKubeClient({ connection, component: 'attack', clock: systemClock, random: Math.random })
  const impersonator = await impersonation(controlPlane.kubeconfig)
  return {
    admin: controlPlane.admin,
    client,
    as: impersonator.as,
    stop: async () => {
      await impersonator.close()
      await client.close()
      await controlPlane.admin.close()
      await end()
    },
  }
}

export type AttackCluster = Awaited<ReturnType<typeof startAttackCluster>>

async function impersonation(kubeconfig: string) {
  const access = await readKubeconfig(kubeconfig)
  // Over HTTP/2 undici joins the values of a header by commas, and several groups would become one strange group.
  const agent = new Agent({
    allowH2: false,
    connect: {
      ...(access.certificateAuthority === undefined ? {} : { ca: access.certificateAuthority }),
      ...(access.certificate === undefined || access.key === undefined ? {} : { cert: access.certificate, key: access.key }),
    },
  })
  const as = async (identity: Identity, method: string, path: string, body?: unknown, type?: string): Promise<Reply> => {
    const headers = {
      'impersonate-user': identity.user,
      'impersonate-group': [...identity.groups],
      ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
    }
    const response = await request(new URL(path, access.server), {
      method: method as 'GET',
      dispatcher: agent,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : text
    const message = typeof parsed === 'object' && parsed !== null && 'message' in parsed ? String(parsed.message) : ''
    return { status: response.statusCode, message, body: parsed }
  }
  return { as, close: () => agent.close() }
}
