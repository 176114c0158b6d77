// A temporary API server for the attacks: policies and webhooks apply to the whole cluster and would refuse writes of other tests.
// Starts and stops it, and sends requests with any identity (by impersonation).
import { removeTestCluster, startTestCluster } from '../../dev/cluster/control-plane/test-cluster.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../dev/cluster/settings.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { loadKubeConnection } from '../../src/kube/kubeconfig/kubeconfig.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { impersonation } from './impersonation.ts'

const cluster = { name: 'attack-cluster', portOffset: 20 }

export async function startAttackCluster() {
  const deps = { settings: readClusterSettings(), progress: standardErrorProgress() }
  const controlPlane = await startTestCluster(deps, cluster)
  const environment = { KUBECONFIG: controlPlane.kubeconfig }
  const connection = await loadKubeConnection({ environment, clock: systemClock })
  const client = createKubeClient({ connection, component: 'attack', clock: systemClock, random: Math.random })
  const impersonator = await impersonation(controlPlane.kubeconfig)
  return {
    admin: controlPlane.admin,
    client,
    as: impersonator.as,
    send: impersonator.send,
    stop: async () => {
      await impersonator.close()
      await client.close()
      await controlPlane.admin.close()
      await removeTestCluster(deps, cluster)
    },
  }
}

export type AttackCluster = Awaited<ReturnType<typeof startAttackCluster>>
