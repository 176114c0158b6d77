// The host record is accepted only in the form in which it was written: its names become paths and arguments of root.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { HostRecord } from './record.ts'
import { parseHostRecord, readHostRecord, removeHostRecord, writeHostRecord } from './record.ts'

const record: HostRecord = {
  version: 1,
  repository: '/src/sekisho',
  clusterFolder: '/src/sekisho/.state/cluster',
  bootId: 'b',
  node: {
    address: '10.88.0.1/32',
    bridge: 'cni0',
    cniNetwork: 'sekisho',
    cgroup: 'sekisho',
    chainPrefixes: ['KUBE-', 'CNI-'],
    sysctls: { 'net/ipv4/ip_forward': '0', 'fs/aio-max-nr': '65536', 'fs/inotify/max_user_instances': '128' },
  },
}

test('is read as it was written, and can be removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'host-record-'))
  try {
    await writeHostRecord(folder, record)
    expect(await readHostRecord(folder)).toEqual(record)
    await removeHostRecord(folder)
    expect(await readHostRecord(folder)).toBeUndefined()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.each([
  ['half a file', '{"version":1,'],
  ['another version', JSON.stringify({ ...record, version: 2 })],
  ['the root as its folder', JSON.stringify({ ...record, clusterFolder: '/' })],
  ['a relative folder', JSON.stringify({ ...record, clusterFolder: 'state' })],
])('does not accept %s as a record', (_what, text) => {
  expect(parseHostRecord(text)).toBeUndefined()
})

test.each([
  ['a cgroup path with ..', { cgroup: '../x' }],
  ['an interface that is an option', { bridge: '-all' }],
  ['a network with a slash', { cniNetwork: 'a/b' }],
])('drops the node of a record with %s', (_what, change) => {
  expect(parseHostRecord(JSON.stringify({ ...record, node: { ...record.node, ...change } }))?.node).toBeUndefined()
})

test('drops kernel settings and chain prefixes that this code never writes', () => {
  const node = { ...record.node, sysctls: { 'kernel/core_pattern': '|x' }, chainPrefixes: ['', 'KUBE-'] }
  expect(parseHostRecord(JSON.stringify({ ...record, node }))?.node).toMatchObject({ sysctls: {}, chainPrefixes: ['KUBE-'] })
})
