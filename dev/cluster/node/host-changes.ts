// The changes of a node to the host outside its own folder: the list for the host record, and applying it.
// It must never change anything that the list does not name.
import { ensureCgroup } from '../host/cgroups.ts'
import { addAddress, hasAddress, readSysctl, writeSysctl } from '../host/network.ts'
import type { HostChanges, HostRecord } from '../host/record.ts'
import type { ClusterSettings } from '../settings.ts'
import { bridgeName, cgroupName, chainPrefixes, cniNetwork } from './layout.ts'

const forwarding = 'net/ipv4/ip_forward'

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
    sysctls: earlier?.node?.sysctls ?? { [forwarding]: await readSysctl(forwarding) },
  }
}

export async function prepareHost(changes: HostChanges): Promise<void> {
  if (changes.address !== undefined) await addAddress(changes.address)
  await writeSysctl(forwarding, '1')
  await ensureCgroup(changes.cgroup)
}
