import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { saidTime } from './said-time.ts'

/** A Saturday, 14:30 in Berlin. */
const now = new Date('2026-11-28T13:30:00Z')
const berlin = { now, zone: 'Europe/Berlin' }
const at = (text: string, here = berlin): string | undefined => saidTime(text, here)?.at.toISOString()

test.each([
  ['7d', '2026-11-21T13:30:00.000Z'],
  ['90m', '2026-11-28T12:00:00.000Z'],
  ['2w ago', '2026-11-14T13:30:00.000Z'],
  ['3 hours ago', '2026-11-28T10:30:00.000Z'],
  ['1 day ago', '2026-11-27T13:30:00.000Z'],
  ['now', '2026-11-28T13:30:00.000Z'],
  ['today', '2026-11-27T23:00:00.000Z'],
  ['yesterday', '2026-11-26T23:00:00.000Z'],
  ['Yesterday  09:30', '2026-11-27T08:30:00.000Z'],
  ['yesterday at 2pm', '2026-11-27T13:00:00.000Z'],
  ['last tuesday 14:00', '2026-11-24T13:00:00.000Z'],
  ['tuesday noon', '2026-11-24T11:00:00.000Z'],
  ['last saturday', '2026-11-20T23:00:00.000Z'],
  ['fri 12:30 am', '2026-11-26T23:30:00.000Z'],
  ['14:00', '2026-11-28T13:00:00.000Z'],
  ['15:00', '2026-11-27T14:00:00.000Z'],
  ['2026-11-24', '2026-11-23T23:00:00.000Z'],
  ['2026-11-24 14:00', '2026-11-24T13:00:00.000Z'],
  ['2026-11-24T14:00:05', '2026-11-24T13:00:05.000Z'],
  ['2026-11-24T14:00:00Z', '2026-11-24T14:00:00.000Z'],
  ['2026-11-24T14:00:00.123456+05:30', '2026-11-24T08:30:00.123Z'],
  ['2027-01-01', '2026-12-31T23:00:00.000Z'],
])('%s', (text, expected) => {
  expect(at(text)).toBe(expected)
})

test.each([
  '',
  ' ',
  'soon',
  'tuesday last',
  'last',
  '25:00',
  '14:60',
  '14',
  '13pm',
  '0pm',
  '2026-02-30',
  '2026-13-01',
  '2026-02-30T00:00:00Z',
  '7y',
  '-7d',
  '1.5h',
  '7d 14:00',
  'yesterday tomorrow',
])('%j is no time', text => {
  expect(saidTime(text, berlin)).toBeUndefined()
})

describe('where clocks change', () => {
  test('an hour that comes twice is its first, one that is left out the time after the gap', () => {
    expect(at('2026-10-25 02:30')).toBe('2026-10-25T00:30:00.000Z')
    expect(at('2026-03-29 02:30')).toBe('2026-03-29T01:30:00.000Z')
  })
  test('a day begins at its midnight, however many hours it has', () => {
    expect(at('2026-10-26')).toBe('2026-10-25T23:00:00.000Z')
    expect(at('2026-10-25')).toBe('2026-10-24T22:00:00.000Z')
  })
})

test('the zone is said, and what it is elsewhere', () => {
  expect(saidTime('last tuesday 14:00', berlin)?.text).toBe('Tue 2026-11-24 14:00:00 Europe/Berlin (13:00:00Z)')
  expect(saidTime('today', berlin)?.text).toBe('Sat 2026-11-28 00:00:00 Europe/Berlin (2026-11-27 23:00:00Z)')
  expect(saidTime('today', { now, zone: 'UTC' })?.text).toBe('Sat 2026-11-28 00:00:00 UTC')
})

test('what is written in a zone is read as the same moment', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata', 'Pacific/Apia', 'Australia/Lord_Howe']
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.date({ min: new Date('2015-01-01'), max: now, noInvalidDate: true }),
      (zone, moment) => {
        const seconds = new Date(Math.floor(moment.getTime() / 1000) * 1000)
        const written = saidTime(seconds.toISOString(), { now, zone })?.text ?? ''
        const again = saidTime(written.split(' ').slice(1, 3).join(' '), { now, zone })?.at ?? now
        // Where an hour comes twice, its first is meant.
        const difference = seconds.getTime() - again.getTime()
        return difference === 0 || difference === 3_600_000 || difference === 1_800_000
      },
    ),
  )
})
