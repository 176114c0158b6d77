// The pods' network: one bridge with the node as gateway, addresses from the pod range, host ports and forwarding rules.
// Only the configuration; the runtime calls the plugins (CNI specification 1.0, Debian's plugins 1.1).
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../replace-file.ts'
import type { ClusterSettings } from '../settings.ts'
import type { NodeLayout } from './layout.ts'
import { bridgeName, cniNetwork } from './layout.ts'

export function cniConfiguration(settings: Pick<ClusterSettings, 'podCidr'>, leases: string): string {
  const bridge = {
    type: 'bridge',
    bridge: bridgeName,
    isGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: { type: 'host-local', dataDir: leases, ranges: [[{ subnet: settings.podCidr }]], routes: [{ dst: '0.0.0.0/0' }] },
  }
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }, { type: 'firewall', backend: 'iptables' }]
  return `${JSON.stringify({ cniVersion: '1.0.0', name: cniNetwork, plugins }, null, 2)}\n`
}

export async function writeCniConfiguration(settings: ClusterSettings, layout: NodeLayout): Promise<void> {
  await mkdir(layout.cniConfiguration, { recursive: true })
  await replaceFile(join(layout.cniConfiguration, '10-sekisho.conflist'), cniConfiguration(settings, layout.cniLeases))
}
