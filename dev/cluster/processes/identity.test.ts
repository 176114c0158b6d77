// A process is the recorded one only when pid, executable, start time and boot all match; its name does not matter.
import { describe, expect, test } from 'vitest'
import { identify, isAlive, parseStat } from './identity.ts'

const fields = Array.from({ length: 40 }, (_item, index) => String(index + 3))

describe('parseStat', () => {
  test('reads state and start time behind a name that contains spaces and parentheses', () => {
    const line = `42 (tricky) name (x) ${['S', ...fields.slice(1, 19), '987654', ...fields.slice(20)].join(' ')}`
    expect(parseStat(line)).toEqual({ state: 'S', startTicks: 987_654 })
  })

  test('returns undefined for a truncated line', () => {
    expect(parseStat('42 (a) S 1 2')).toBeUndefined()
  })
})

describe('isAlive', () => {
  const recorded = { pid: 7, executable: '/bin/a', startTicks: 100, bootId: 'boot' }

  test('recognises the recorded process', () => {
    expect(isAlive(recorded, () => recorded)).toBe(true)
  })

  test.each([
    ['another executable', { ...recorded, executable: '/bin/b' }],
    ['another start time', { ...recorded, startTicks: 101 }],
    ['another boot', { ...recorded, bootId: 'later' }],
  ])('does not recognise a process with %s', (_what, found) => {
    expect(isAlive(recorded, () => found)).toBe(false)
  })

  test('identifies this process by /proc', () => {
    const own = identify(process.pid)
    expect(own?.executable).toContain('node')
    expect(own !== undefined && isAlive(own)).toBe(true)
  })
})
