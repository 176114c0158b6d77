// A temporary API server for the attacks: policies and webhooks apply to the whole cluster and would refuse writes of other
// tests. Starts and stops it with our kinds, and sends requests with any identity (by impersonation).
import { readFile } from 'node:fs/promises'
import {
  portOffset,
  removeTestCluster,
  startTestCluster,
  type ThrowAwayCluster,
} from '../../dev/cluster/control-plane/test-cluster.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { installKinds } from '../fixtures/kinds.ts'
import { impersonation } from './impersonation.ts'

export type AttackClusterOptions = Pick<ThrowAwayCluster, 'name' | 'authorizer'>

/** That of the matrix alone: files run beside each other, so each has a cluster of another name. */
export const attackCluster: AttackClusterOptions = { name: 'attack-cluster' }

/** Where a test serves the webhook: only there the API server shows its client certificate. */
export function webhookAddress(cluster: AttackClusterOptions): { readonly host: string; readonly port: number } {
  return { host: '127.0.0.1', port: readClusterSettings().testPorts.apiServer + portOffset(cluster) + 8 }
}

export async function startAttackCluster(options: AttackClusterOptions) {
  const { host, port } = webhookAddress(options)
  const cluster = { ...options, webhookHosts: [`${host}:${port}`], beforeControllers: installKinds }
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const controlPlane = await startTestCluster(deps, cluster)
  const impersonator = await impersonation(controlPlane.kubeconfig)
  return {
    admin: controlPlane.admin,
    /** The path of the administrator's kubeconfig. */
    kubeconfig: controlPlane.kubeconfig,
    /** Of the API server's own authority, which also signs what the API server calls. */
    authorityFile: controlPlane.certificates.authorityFile,
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
