// The status of the development cluster: the recorded processes, checked one by one, and whether the API server and the node
// are ready. It changes nothing and starts nothing.
import { asObject, objectsAt } from '../../src/lib/json/json-value.ts'
import { adminClientFor } from './control-plane/admin-client.ts'
import { processFolder, readHostRecord } from './host/record.ts'
import { hasCondition } from './node/ready.ts'
import { isAlive } from './processes/identity.ts'
import { readRecords } from './processes/record.ts'
import type { ClusterSettings } from './settings.ts'
import { adminKubeconfig } from './settings.ts'

export type ClusterStatus = {
  readonly kubeconfig: string
  readonly owner: string | undefined
  readonly processes: readonly {
    readonly name: string
    readonly pid: number
    readonly running: boolean
    readonly startedAt: string
  }[]
  readonly apiServer: boolean
  readonly node: boolean
}

export async function clusterStatus(settings: ClusterSettings): Promise<ClusterStatus> {
  const records = await readRecords(processFolder(settings.hostRecordFolder))
  const kubeconfig = adminKubeconfig(settings)
  const admin = await adminClientFor(kubeconfig).catch(() => undefined) // no cluster was ever started here
  const apiServer = (await admin?.ready().catch(() => false)) ?? false
  const nodes = apiServer ? await admin?.call('GET', '/api/v1/nodes') : undefined
  await admin?.close()
  return {
    kubeconfig,
    owner: (await readHostRecord(settings.hostRecordFolder))?.repository,
    processes: records.map(record => ({
      name: record.name,
      pid: record.pid,
      running: isAlive(record),
      startedAt: record.startedAt,
    })),
    apiServer,
    node: anyReady(nodes),
  }
}

function anyReady(nodes: unknown): boolean {
  return objectsAt(asObject(nodes), 'items').some(node => hasCondition(node, 'Ready'))
}

export function statusText(status: ClusterStatus): string {
  const word = (yes: boolean): string => (yes ? 'ready' : 'not ready')
  const processes = status.processes.map(
    item => `  ${item.name.padEnd(24)} ${item.running ? `running, pid ${item.pid}, since ${item.startedAt}` : 'not running'}`,
  )
  return [
    `kubeconfig   ${status.kubeconfig}`,
    `API server   ${word(status.apiServer)}`,
    `node         ${word(status.node)}`,
    ...(status.owner === undefined ? [] : [`started from ${status.owner}`]),
    ...processes,
    '',
  ].join('\n')
}
