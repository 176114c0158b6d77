// The environment of the bench: a control plane of its own with our kinds and the chart, and without a Deployment controller,
// so that only the controllers and the API server are measured. Everything is removed at the end, and leftovers of an earlier
// run are removed first.

import { join } from 'node:path'
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { removeTestCluster, startTestCluster } from '../../../dev/cluster/control-plane/test-cluster.ts'
import { readRecord } from '../../../dev/cluster/processes/record.ts'
import { stopProcess } from '../../../dev/cluster/processes/supervise.ts'
import { createProgress } from '../../../dev/cluster/progress.ts'
import { readClusterSettings } from '../../../dev/cluster/settings.ts'
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import { installKinds } from '../../fixtures/kinds.ts'
import { namespaces } from './applications.ts'

/** With ports apart from the control plane of the integration tests, so that both can run at once. */
const cluster = { name: 'bench-cluster', beforeControllers: installKinds } as const

export type Fixture = {
  readonly kubeconfig: string
  readonly admin: AdminClient
  /** Process ids, for the usage of the API server and its store. */
  readonly servers: readonly number[]
  readonly close: () => Promise<void>
}

/** `note` receives every step. */
export async function startFixture(note: (message: string) => void): Promise<Fixture> {
  const settings = readClusterSettings()
  const deps = { settings, progress: createProgress(line => note(line.trim())) }
  const folder = join(settings.stateFolder, cluster.name)
  const folders = { records: join(folder, 'processes'), logs: join(folder, 'logs') }
  try {
    const { kubeconfig, admin } = await startTestCluster(deps, cluster)
    for (const name of [platformNamespace, ...namespaces])
      await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const { apiVersion, kind, plural } = applicationChart
    const chart = { apiVersion, kind, metadata: { name: 'web' }, spec: { builtIn: 'web' } }
    await admin.apply(`/apis/${apiVersion}/${plural}/web`, chart)
    await stopProcess('kube-controller-manager', folders)
    const records = await Promise.all(['kube-apiserver', 'etcd'].map(name => readRecord(folders.records, name)))
    return {
      kubeconfig,
      admin,
      servers: records.flatMap(record => (record === undefined ? [] : [record.pid])),
      async close() {
        await admin.close()
        await removeTestCluster(deps, cluster)
      },
    }
  } catch (error) {
    await removeTestCluster(deps, cluster)
    throw error
  }
}
