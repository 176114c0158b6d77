// Every row of the doctor, and that each requirement that is not met names its fix.
import { describe, expect, test } from 'vitest'
import type { Facts } from './requirements.ts'
import { findings, findingsTable } from './requirements.ts'

const good: Facts = {
  linux: true,
  root: true,
  versions: {
    go: 'go version go1.25.3 linux/amd64',
    git: 'git version 2',
    make: 'GNU Make 4',
    node: 'v24.1.0',
    openssl: 'OpenSSL 3',
    tar: 'tar 1',
  },
  toBuild: [],
  missingPackages: [],
  apt: true,
  takenPorts: [],
  packetQueue: true,
  kernelLimits: [],
  freeGibibytes: 50,
  otherOwner: undefined,
}

function state(change: Partial<Facts>, name: string): string | undefined {
  const rows = findings({ ...good, ...change })
  for (const row of rows) if (row.state !== 'ok') expect(row.cure, row.name).toBeTruthy()
  return rows.find(row => row.name.startsWith(name))?.state
}

describe('findings', () => {
  test('are all ok on a machine that has everything', () => {
    expect(findings(good).every(row => row.state === 'ok')).toBe(true)
  })

  const old = { ...good.versions, go: 'go version go1.19.8 linux/amd64' }
  const low = { limit: 'kernel.pty.max', found: '4096', wanted: 'at least 65536', cure: 'sysctl -w kernel.pty.max=65536' }
  const containerd = { name: 'containerd', program: '/x', why: 'runs containers' }
  test.each<[string, Partial<Facts>, string, string]>([
    ['an old Go with something to build', { versions: old, toBuild: ['etcd'] }, 'Go', 'missing'],
    ['an old Go with everything cached', { versions: old }, 'Go', 'warning'],
    ['Go 2', { versions: { ...good.versions, go: 'go version go2.0 linux/amd64' } }, 'Go', 'ok'],
    ['Node 20', { versions: { ...good.versions, node: 'v20.11.0' } }, 'Node.js', 'missing'],
    ['no git', { versions: { ...good.versions, git: undefined } }, 'git', 'missing'],
    ['no root', { root: false }, 'root', 'warning'],
    ['a missing package that root can install', { missingPackages: [containerd] }, 'Debian', 'warning'],
    ['a missing package without apt', { missingPackages: [containerd], apt: false }, 'Debian', 'missing'],
    ['a port in use', { takenPorts: [{ port: 6443, purpose: 'API server' }] }, 'ports', 'missing'],
    ['a kernel without packet queue', { packetQueue: false }, 'packet queue', 'missing'],
    ['limits of the kernel that are low', { kernelLimits: [low] }, 'kernel limits', 'warning'],
    ['little disk', { freeGibibytes: 3 }, 'disk', 'warning'],
    ['another checkout', { otherOwner: '/a' }, 'other', 'missing'],
    ['no Linux', { linux: false }, 'Linux', 'missing'],
  ])('%s', (_what, change, name, expected) => {
    expect(state(change, name)).toBe(expected)
  })
})

test('the table shows the fix below each missing requirement', () => {
  expect(findingsTable(findings({ ...good, otherOwner: '/a' }))).toMatch(/missing {2}other checkout .*\n.*→ make -C \/a down/)
})
