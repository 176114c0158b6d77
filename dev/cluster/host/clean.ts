// Undoes the changes to the host that a record lists. It uses the record only, which may belong to another checkout.
// Order matters: first the processes, which could make more, then their mounts, then the network.
import { join } from 'node:path'
import { isAlive } from '../processes/identity.ts'
import { readRecords } from '../processes/record.ts'
import { stopProcess } from '../processes/supervise.ts'
import type { Progress } from '../progress.ts'
import { removeCgroup } from './cgroups.ts'
import { removeChains } from './firewall.ts'
import { unmountBelow } from './mounts.ts'
import { removeAddress, removeBridge, writeSysctl } from './network.ts'
import type { HostRecord } from './record.ts'
import { processFolder } from './record.ts'
import { removeRuntimeRemains } from './runtime-remains.ts'

/** The node's agents end first, because they would restart other processes. The API server and etcd end last. */
const stopOrder = [
  'kubelet',
  'traefik',
  'kube-proxy',
  'kube-scheduler',
  'containerd',
  'network-policies',
  'postgres',
  'registry',
  'kube-controller-manager',
  'kube-apiserver',
  'etcd',
]

/** Programs that hold state about what the clean-up removes: they must start fresh after it. */
const nodeAgents = ['kubelet', 'kube-proxy', 'containerd']

/** Ends every recorded process whose identity still matches. */
async function stopRecorded(recordFolder: string, clusterFolder: string, progress: Progress): Promise<void> {
  const folders = { records: processFolder(recordFolder), logs: join(clusterFolder, 'logs') }
  const names = (await readRecords(folders.records)).map(record => record.name)
  const rank = (name: string): number => stopOrder.indexOf(name) // unknown ones first
  for (const name of names.sort((a, b) => rank(a) - rank(b))) {
    if (await stopProcess(name, folders)) progress.note(`${name} stopped`)
  }
}

export async function aliveNames(recordFolder: string): Promise<readonly string[]> {
  return (await readRecords(processFolder(recordFolder))).filter(record => isAlive(record)).map(record => record.name)
}

/** Removes what running pods left: processes, mounts, network. The cluster's data and the node's address stay. */
async function clearPodRemains(record: HostRecord, progress: Progress): Promise<void> {
  const { node } = record
  if (node === undefined) return
  const ended = await removeCgroup(node.cgroup)
  if (ended > 0) progress.note(`${ended} processes of pods ended`)
  const unmounted = await unmountBelow(record.clusterFolder)
  if (unmounted > 0) progress.note(`${unmounted} mounts removed`)
  if (await removeBridge(node.bridge)) progress.note(`network interface ${node.bridge} removed`)
  if (await removeChains(node.chainPrefixes)) progress.note(`firewall chains ${node.chainPrefixes.join('*, ')}* removed`)
  await removeRuntimeRemains(record.clusterFolder)
}

/** After an interruption: ends the node's agents and removes what pods left, so that the node starts as after a reboot. */
export async function recoverHost(record: HostRecord, recordFolder: string, progress: Progress): Promise<void> {
  const folders = { records: processFolder(recordFolder), logs: join(record.clusterFolder, 'logs') }
  for (const name of nodeAgents) await stopProcess(name, folders)
  await clearPodRemains(record, progress)
}

/** Undoes every change, also the node's address and the kernel settings. The cluster's folder stays. */
export async function cleanHost(record: HostRecord, recordFolder: string, progress: Progress): Promise<void> {
  await stopRecorded(recordFolder, record.clusterFolder, progress)
  await clearPodRemains(record, progress)
  const { node } = record
  if (node === undefined) return
  for (const [name, value] of Object.entries(node.sysctls)) await writeSysctl(name, value)
  if (node.address !== undefined) await removeAddress(node.address)
}
