// Which limits of the kernel a start raises, and that one that cannot be written does not stop it.
import { expect, test } from 'vitest'
import { kernelLimits } from '../../../src/lib/limits/node-limits.ts'
import { limitPath, lowLimits, raiseLimits, type Sysctls } from './kernel-limits.ts'

/** A machine with these values, which lets nobody write `fixed`. */
function machine(values: Readonly<Record<string, string>>, fixed?: string) {
  const now = new Map(Object.entries(values))
  const sysctls: Sysctls = {
    read: async path => now.get(path) ?? Promise.reject(new Error('ENOENT')),
    write: async (path, value) => {
      if (path === fixed) throw new Error('EACCES: permission denied')
      now.set(path, value)
    },
  }
  return { now, sysctls }
}

test('limits that are too low are raised and the others stay, also one that this kernel does not have', async () => {
  const { now, sysctls } = machine({
    'kernel/pty/max': '4096',
    'fs/file-max': '9223372036854775807',
    'kernel/pid_max': '4194304',
  })
  expect(await lowLimits(sysctls)).toEqual({ 'kernel/pty/max': '4096' })
  await raiseLimits(sysctls, line => expect.unreachable(line))
  expect(Object.fromEntries(now)).toEqual({
    'kernel/pty/max': '65536',
    'fs/file-max': '9223372036854775807',
    'kernel/pid_max': '4194304',
  })
  expect(await lowLimits(sysctls)).toEqual({})
})

test('one that cannot be written is named, and the others are raised', async () => {
  const all = Object.fromEntries(kernelLimits.map(limit => [limitPath(limit), '1']))
  const { now, sysctls } = machine(all, 'fs/aio-max-nr')
  const notes: string[] = []
  await raiseLimits(sysctls, line => notes.push(line))
  expect(notes).toEqual([expect.stringMatching(/^fs.aio-max-nr stays 1 and should be 1073741824: .*permission denied/)])
  expect(now.get('fs/aio-max-nr')).toBe('1')
  expect(now.get('fs/file-max')).toBe('1073741824')
})
