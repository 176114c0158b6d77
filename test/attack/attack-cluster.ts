// A temporary API server for the attacks: policies and webhooks apply to the whole cluster and would refuse writes of other tests.
// Starts and stops it with our kinds, and sends requests with any identity (by impersonation).
import { readFile } from 'node:fs/promises'
import { removeTestCluster, startTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { installKinds } from '../fixtures/kinds.ts'
import { impersonation } from './impersonation.ts'

export type AttackClusterOptions = { readonly name: string; readonly portOffset: number }

/** That of the matrix; a cluster beside it has another name and other ports. */
export const attackCluster: AttackClusterOptions = { name: 'attack-cluster', portOffset: 20 }

/** Where a test serves the webhook: only there the API server shows its client certificate. */
export function webhookAddress({ portOffset }: AttackClusterOptions): { readonly host: string; readonly port: number } {
  return { host: '127.0.0.1', port: readClusterSettings().testPorts.apiServer + portOffset + 8 }
}

export async function startAttackCluster(options: AttackClusterOptions = attackCluster) {
  const { host, port } = webhookAddress(options)
  const cluster = { ...options, webhookHosts: [`${host}:${port}`], beforeControllers: installKinds }
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const controlPlane = await startTestCluster(deps, cluster)
  const impersonator = await impersonation(controlPlane.kubeconfig)
  return {
    admin: controlPlane.admin,
    /** The path of the administrator's kubeconfig. */
    kubeconfig: controlPlane.kubeconfig,
    /** PEM of the authority of the API server's client certificate. */
    clientAuthorities: await readFile(controlPlane.certificates.webhookClientAuthorityFile, 'utf8'),
    as: impersonator.as,
    send: impersonator.send,
    stop: async () => {
      await impersonator.close()
      await controlPlane.admin.close()
      await removeTestCluster(deps, cluster)
    },
  }
}

export type AttackCluster = Awaited<ReturnType<typeof startAttackCluster>>
