// Finding what an interrupted cluster left: mounts below its folder, its firewall chains, the control group trees.
import { describe, expect, test } from 'vitest'
import { hierarchyRoots } from './cgroups.ts'
import { withoutChains } from './firewall.ts'
import { mountsBelow } from './mounts.ts'
import { shimSocketIn } from './runtime-remains.ts'

describe('mountsBelow', () => {
  const line = (point: string): string => `36 35 98:0 / ${point} rw,noatime shared:1 - tmpfs tmpfs rw`
  const mountinfo = ['/', '/s/cluster', '/s/cluster/kubelet/pods/1/vol', '/s/cluster-other', '/s/cluster/with\\040space']
    .map(line)
    .join('\n')

  test('returns the mounts below the folder, innermost and latest first, with escapes undone', () => {
    expect(mountsBelow(mountinfo, '/s/cluster')).toEqual(['/s/cluster/with space', '/s/cluster/kubelet/pods/1/vol', '/s/cluster'])
  })
})

describe('withoutChains', () => {
  const saved = `*nat
:PREROUTING ACCEPT [1:60]
:KUBE-SERVICES - [0:0]
:CNI-abc - [0:0]
:DOCKER - [0:0]
[5:300] -A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
[2:120] -A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
[0:0] -A KUBE-SERVICES -d 10.96.0.1/32 -j KUBE-SVC-X
[0:0] -A POSTROUTING -s 10.244.0.2/32 -j CNI-abc
[0:0] -A POSTROUTING -m comment --comment "KUBE-LIKE but not ours" -j MASQUERADE
COMMIT
`
  test('removes our chains and the jumps to them, and keeps everything else with its counters', () => {
    expect(withoutChains(saved, ['KUBE-', 'CNI-'])).toBe(`*nat
:PREROUTING ACCEPT [1:60]
:DOCKER - [0:0]
[2:120] -A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
[0:0] -A POSTROUTING -m comment --comment "KUBE-LIKE but not ours" -j MASQUERADE
COMMIT
`)
  })

  test('changes nothing when there is no chain of ours', () => {
    expect(withoutChains(saved, ['OTHER-'])).toBe(saved)
  })
})

describe('hierarchyRoots', () => {
  const v1 = '30 25 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids'
  const unified = (point: string): string => `31 25 0:27 / ${point} rw - cgroup2 cgroup2 rw`

  test('uses every v1 tree and not the unified one of a hybrid machine', () => {
    expect(hierarchyRoots([v1, unified('/sys/fs/cgroup/unified')].join('\n'))).toEqual(['/sys/fs/cgroup/pids'])
  })

  test('uses the unified tree when it is the only one', () => {
    expect(hierarchyRoots(unified('/sys/fs/cgroup'))).toEqual(['/sys/fs/cgroup'])
  })
})

describe('shimSocketIn', () => {
  const socket = `/run/containerd/s/${'0a'.repeat(32)}`

  test('reads the socket of a container', () => {
    expect(shimSocketIn(`unix://${socket}\n`)).toBe(socket)
  })

  test.each(['unix:///etc/passwd', `unix://${socket}/../x`, ''])('does not accept %j as a socket', address => {
    expect(shimSocketIn(address)).toBeUndefined()
  })
})
