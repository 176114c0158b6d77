// The paths and names that several of the node's programs share. It reads and writes nothing.
import { join } from 'node:path'
import type { ControlPlane } from '../control-plane/start.ts'
import { processFolder } from '../host/record.ts'
import type { ProcessFolders } from '../processes/supervise.ts'
import type { Progress } from '../progress.ts'
import type { ClusterSettings } from '../settings.ts'
import { devClusterFolder } from '../settings.ts'

export const bridgeName = 'cni0'
export const cniNetwork = 'sekisho'
export const cgroupName = 'sekisho'
export const chainPrefixes = ['KUBE-', 'CNI-', 'SEKISHO-'] as const
/** The netfilter queue in which new connections of pods wait for a verdict. */
export const policyQueue = 100
/** The host name in the references of images that are imported into the runtime. No registry has this name. */
export const importedImages = 'sekisho.dev'
/** On loopback. */
export const policyMetricsPort = 9180
/** Where Debian's containernetworking-plugins installs its programs. */
export const cniPluginFolder = '/usr/lib/cni'

export type NodeLayout = {
  readonly folder: string
  readonly containerdSocket: string
  readonly cniConfiguration: string
  readonly cniLeases: string
  readonly kubelet: string
  readonly podLogs: string
  readonly registryCertificates: string
}

export type NodeContext = {
  readonly settings: ClusterSettings
  readonly layout: NodeLayout
  readonly controlPlane: ControlPlane
  readonly folders: ProcessFolders
  readonly progress: Progress
}

export function nodeLayout(settings: ClusterSettings): NodeLayout {
  const folder = devClusterFolder(settings)
  return {
    folder,
    containerdSocket: join(folder, 'containerd', 'containerd.sock'),
    cniConfiguration: join(folder, 'cni', 'net.d'),
    cniLeases: join(folder, 'cni', 'leases'),
    kubelet: join(folder, 'kubelet'),
    podLogs: join(folder, 'pod-logs'),
    registryCertificates: join(folder, 'containerd', 'certs.d'),
  }
}

export function devProcessFolders(settings: ClusterSettings): ProcessFolders {
  return { records: processFolder(settings.hostRecordFolder), logs: join(devClusterFolder(settings), 'logs') }
}
