// What a node lacks, from what was read of it.
import { describe, expect, test } from 'vitest'
import {
  containerPtys,
  keepsPids,
  kernelLimits,
  parsePtyLimit,
  parseSysctl,
  readSysctls,
  shortcomings,
  sysctlFile,
} from './node-limits.ts'

const enough = Object.fromEntries(kernelLimits.map(({ name, least }) => [name, least]))

describe('shortcomings', () => {
  test('a node with every limit lacks nothing, nor does one with more', () => {
    expect(shortcomings({ sysctls: enough, containerPtys })).toEqual([])
    expect(shortcomings({ sysctls: { ...enough, 'fs.file-max': 2 ** 62 }, containerPtys: 16 })).toEqual([])
  })

  test.each(kernelLimits)('$name below $least is named with its command', ({ name, least }) => {
    expect(shortcomings({ sysctls: { ...enough, [name]: least - 1 }, containerPtys })).toEqual([
      { limit: name, found: `${least - 1}`, wanted: `at least ${least}`, cure: `sysctl -w ${name}=${least}` },
    ])
  })

  test('a container that may take all pseudo-terminals is named', () => {
    expect(shortcomings({ sysctls: enough, containerPtys: Number.POSITIVE_INFINITY })).toMatchObject([{ found: 'unlimited' }])
    expect(shortcomings({ sysctls: enough, containerPtys: 4096 })).toMatchObject([{ found: '4096', wanted: 'at most 64' }])
  })

  test('what could not be read is not held against the node', () => {
    expect(shortcomings({ sysctls: {}, containerPtys: undefined })).toEqual([])
  })
})

test('a sysctl is found by its name and is a whole number', () => {
  expect(sysctlFile('fs.inotify.max_user_instances')).toBe('/proc/sys/fs/inotify/max_user_instances')
  expect(parseSysctl('65536\n')).toBe(65_536)
  expect(parseSysctl('9223372036854775807\n')).toBeGreaterThan(2 ** 62)
  for (const text of ['', '4096\t60999', '-1', 'max']) expect(parseSysctl(text), text).toBeUndefined()
})

test('limits that cannot be read are left out', async () => {
  const read = async (file: string): Promise<string> => {
    if (file === '/proc/sys/kernel/pty/max') return '4096\n'
    throw new Error('EACCES')
  }
  expect(await readSysctls(read)).toEqual({ 'kernel.pty.max': 4096 })
})

test('the limit of pseudo-terminals is an option of the mount', () => {
  const mount = (options: string): string =>
    `1216 1 0:1 / /dev rw - tmpfs tmpfs rw,max=9\n1217 1216 0:354 / /dev/pts rw,nosuid - devpts devpts ${options}\n`
  expect(parsePtyLimit(mount('rw,gid=5,mode=620,ptmxmode=666,max=64'))).toBe(64)
  expect(parsePtyLimit(mount('rw,gid=5,mode=620,ptmxmode=666'))).toBe(Number.POSITIVE_INFINITY)
  expect(parsePtyLimit('1216 1 0:1 / /dev rw - tmpfs tmpfs rw,max=9')).toBeUndefined()
})

test('a limit of processes keeps the node when all pods together cannot use it up', () => {
  expect(keepsPids({ podPidsLimit: 4096, maxPods: 110 })).toBe(true)
  expect(keepsPids({ podPidsLimit: -1, maxPods: 110 })).toBe(false)
  expect(keepsPids({ podPidsLimit: 1_048_576, maxPods: 110 })).toBe(false)
})
