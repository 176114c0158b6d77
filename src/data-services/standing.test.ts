import { expect, test } from 'vitest'
import { isNotable, standingOf, storageAfter } from './standing.ts'

const good = { reason: 'Provisioned', message: 'it exists' }
const refusal = { reason: 'ServerUnreachable', message: 'no answer' }
const known = {
  type: 'Provisioned',
  status: 'True',
  ...good,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
} as const

test('a server that does not answer takes nothing back: what exists is still said to exist', () => {
  expect(standingOf([known], { refusal }, good)).toMatchObject([
    { type: 'Provisioned', status: 'True', reason: 'Provisioned' },
    { type: 'Ready', status: 'False', reason: 'ServerUnreachable' },
  ])
  expect(standingOf(undefined, { refusal }, good)).toMatchObject([{ status: 'Unknown' }, { status: 'False' }])
  expect(standingOf([known], { provisioned: 'True', refusal: undefined }, good)).toMatchObject([
    { status: 'True' },
    { status: 'True' },
  ])
})

test('a size is written when it changed by more than a twentieth', () => {
  const mebibytes = (number: number): number => number * 1024 * 1024
  expect(storageAfter(undefined, 0)).toBe('1Mi')
  expect(storageAfter('100Mi', mebibytes(105))).toBeUndefined()
  expect(storageAfter('100Mi', mebibytes(106))).toBe('106Mi')
  expect(storageAfter('1Gi', mebibytes(1))).toBe('1Mi')
  expect([isNotable(undefined, 0), isNotable(0, 0), isNotable(0, 1)]).toEqual([true, false, true])
})
