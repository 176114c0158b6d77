// What a start does about an earlier run, for every state in which that run may have ended.
import { describe, expect, test } from 'vitest'
import { decideStart } from './decide-start.ts'
import type { HostRecord } from './record.ts'

const node = { bridge: 'cni0', cniNetwork: 'sekisho', cgroup: 'sekisho', chainPrefixes: ['KUBE-'], sysctls: {} }
const record: HostRecord = { version: 1, repository: '/a', clusterFolder: '/a/.state/cluster', bootId: 'now', node }
const facts = { record, clusterFolder: '/a/.state/cluster', bootId: 'now', alive: ['containerd', 'etcd'], podsAlive: true }

describe('decideStart', () => {
  test('begins on a machine without a record', () => {
    expect(decideStart({ ...facts, record: undefined }).action).toBe('begin')
  })

  test('continues a running cluster', () => {
    expect(decideStart(facts).action).toBe('continue')
  })

  test('continues when only the runtime ended: restarted, it adopts the containers that still run', () => {
    expect(decideStart({ ...facts, alive: ['etcd'] }).action).toBe('continue')
  })

  test('recovers when the runtime and all containers ended', () => {
    expect(decideStart({ ...facts, alive: ['etcd'], podsAlive: false }).action).toBe('recover')
  })

  test('recovers after a reboot', () => {
    expect(decideStart({ ...facts, bootId: 'later', alive: [], podsAlive: false }).action).toBe('recover')
  })

  test('continues a stopped control plane without a node: there are no pods to remove', () => {
    const { node: _node, ...bare } = record
    expect(decideStart({ ...facts, record: bare, alive: [], podsAlive: false }).action).toBe('continue')
  })

  test('removes the remains of a cluster of another checkout', () => {
    expect(decideStart({ ...facts, clusterFolder: '/b/.state/cluster', alive: [] })).toEqual({ action: 'clean', record })
  })

  test('refuses while a cluster of another checkout runs, and says how to stop it', () => {
    const decision = decideStart({ ...facts, clusterFolder: '/b/.state/cluster' })
    expect(decision).toMatchObject({ action: 'refuse', message: expect.stringMatching(/\/a .*"make down" there/) })
  })
})
