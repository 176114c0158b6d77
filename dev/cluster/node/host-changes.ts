// The changes of a node to the host outside its own folder: the list for the host record, and applying it.
// It must never change anything that the list does not name.
import { isAccessible } from '../file-access.ts'
import { ensureCgroup } from '../host/cgroups.ts'
import { lowLimits, raiseLimits } from '../host/kernel-limits.ts'
import { addAddress, hasAddress, readSysctl, writeSysctl } from '../host/network.ts'
import type { HostChanges, HostRecord } from '../host/record.ts'
import type { Progress } from '../progress.ts'
import { runCommand } from '../run-command.ts'
import type { ClusterSettings } from '../settings.ts'
import { bridgeName, cgroupName, chainPrefixes, cniNetwork } from './layout.ts'

const forwarding = 'net/ipv4/ip_forward'
/**
 * Without these, packets between two pods of the bridge pass no firewall rule, and no network policy. They exist with the
 * module br_netfilter.
 */
const bridgeFilters = ['net/bridge/bridge-nf-call-iptables', 'net/bridge/bridge-nf-call-ip6tables'] as const
/** What the network policy agent needs, and the path that shows that the kernel has it: built in, or loaded. */
const kernelModules = { br_netfilter: '/proc/sys/net/bridge', nfnetlink_queue: '/proc/net/netfilter/nfnetlink_queue' } as const
const switchedOn = [forwarding, ...bridgeFilters]
const sysctls = { read: readSysctl, write: writeSysctl }

/** The changes that this start will make. Values from before an earlier start of this cluster are kept. */
export async function plannedChanges(settings: ClusterSettings, earlier: HostRecord | undefined): Promise<HostChanges> {
  const address = `${settings.nodeAddress}/32`
  const addedBefore = earlier?.node?.address === address
  const add = addedBefore || (!settings.nodeAddress.startsWith('127.') && !(await hasAddress(address)))
  return {
    ...(add ? { address } : {}),
    bridge: bridgeName,
    cniNetwork,
    cgroup: cgroupName,
    chainPrefixes,
    sysctls: { ...(await valuesBefore()), ...earlier?.node?.sysctls },
  }
}

/** A setting of a module that is not loaded has no value to return to, and a limit that is high enough is not changed. */
async function valuesBefore(): Promise<Record<string, string>> {
  const found: Record<string, string> = { ...(await lowLimits(sysctls)) }
  for (const name of switchedOn) {
    const value = await readSysctl(name).catch(() => undefined)
    if (value !== undefined) found[name] = value
  }
  return found
}

export async function prepareHost(changes: HostChanges, { note }: Pick<Progress, 'note'>): Promise<void> {
  if (changes.address !== undefined) await addAddress(changes.address)
  for (const [kernelModule, sign] of Object.entries(kernelModules))
    if (!(await isAccessible(sign))) await runCommand('modprobe', [kernelModule])
  for (const name of switchedOn) await writeSysctl(name, '1')
  await raiseLimits(sysctls, note)
  await ensureCgroup(changes.cgroup)
}
