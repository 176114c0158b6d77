// kube-scheduler and kube-proxy: their configuration files and arguments.
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Program } from '../processes/supervise.ts'
import { replaceFile } from '../replace-file.ts'
import type { ClusterSettings } from '../settings.ts'
import type { NodeContext } from './layout.ts'

export function schedulerProgram(context: NodeContext, path: string, kubeconfig: string): Program {
  return {
    name: 'kube-scheduler',
    path,
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${context.settings.schedulerPort}`,
      '--leader-elect=false',
    ],
    configurationFiles: [kubeconfig],
  }
}

/** KubeProxyConfiguration v1alpha1. The host's limits of connection tracking stay as they are. */
export function proxyConfiguration(settings: ClusterSettings, kubeconfig: string): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig },
    hostnameOverride: settings.nodeName,
    bindAddress: settings.nodeAddress,
    nodePortAddresses: [`${settings.nodeAddress}/32`],
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    clusterCIDR: settings.podCidr,
    detectLocalMode: 'ClusterCIDR',
    oomScoreAdj: 0,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { localhostNodePorts: false, minSyncPeriod: '200ms', syncPeriod: '30s' },
  })
}

export async function proxyProgram(context: NodeContext, path: string, kubeconfig: string): Promise<Program> {
  const configuration = join(context.layout.folder, 'config', 'kube-proxy.yaml')
  await replaceFile(configuration, proxyConfiguration(context.settings, kubeconfig))
  return { name: 'kube-proxy', path, args: [`--config=${configuration}`], configurationFiles: [configuration, kubeconfig] }
}
