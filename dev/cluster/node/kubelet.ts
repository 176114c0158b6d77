// The node agent: runs the pods that the scheduler gives to this node.
// It writes below the cluster's folder only, except for links in /var/log/containers, a path that is fixed in its code.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { podPids } from '../../../src/lib/limits/node-limits.ts'
import type { KeyPairFiles } from '../pki/openssl.ts'
import type { Program } from '../processes/supervise.ts'
import { replaceFile } from '../replace-file.ts'
import type { ClusterSettings } from '../settings.ts'
import type { NodeContext, NodeLayout } from './layout.ts'
import { cgroupName, importedImages } from './layout.ts'

/**
 * KubeletConfiguration v1beta1. Disk eviction and image collection are off, because no registry may be able to replace an
 * image.
 */
export function kubeletConfiguration(
  settings: ClusterSettings,
  layout: NodeLayout,
  clientAuthority: string,
  serving: KeyPairFiles,
): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: settings.nodeAddress,
    healthzBindAddress: '127.0.0.1',
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: clientAuthority } },
    authorization: { mode: 'Webhook' },
    readOnlyPort: 0,
    containerRuntimeEndpoint: `unix://${layout.containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroupName}`,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    clusterDNS: [settings.dnsAddress],
    clusterDomain: settings.clusterDomain,
    podLogsDir: layout.podLogs,
    volumePluginDir: join(layout.kubelet, 'volume-plugins'),
    serializeImagePulls: false,
    // An image that one tenant's pod pulled is on the node: without this, a pod of another tenant could run it without a
    // credential. Only the images that were made here and imported, of which no registry has one, need none.
    imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
    preloadedImagesVerificationAllowlist: [`${importedImages}/*`],
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    // Processes and threads are of the node: without a limit one pod takes all.
    podPidsLimit: podPids,
    // Default 5 minutes: whoever tries things out here should not wait for the next restart of a process that crashes.
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%', 'nodefs.inodesFree': '1%' },
    nodeStatusUpdateFrequency: '5s',
    syncFrequency: '30s',
  })
}

export async function kubeletProgram(
  context: NodeContext,
  path: string,
  kubeconfig: string,
  serving: KeyPairFiles,
): Promise<Program> {
  const { settings, layout, controlPlane } = context
  const configuration = join(layout.folder, 'config', 'kubelet.yaml')
  await mkdir(layout.kubelet, { recursive: true })
  const text = kubeletConfiguration(settings, layout, controlPlane.certificates.authorityFile, serving)
  await replaceFile(configuration, text)
  return {
    name: 'kubelet',
    path,
    args: [
      `--config=${configuration}`,
      `--kubeconfig=${kubeconfig}`,
      `--node-ip=${settings.nodeAddress}`,
      `--hostname-override=${settings.nodeName}`,
      `--root-dir=${layout.kubelet}`,
    ],
    configurationFiles: [configuration, kubeconfig, serving.certificate],
  }
}
