import { expect, test } from 'vitest'
import { serviceClass } from '../../api/services/service-class.ts'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'
import { answerAtRest } from './suitable.ts'

const answer = {
  type: 'postgresql' as const,
  version: '15.9',
  versionNumber: 150_009,
  isSuperuser: true,
  acceptsWrites: true,
  open: [],
}

function decided(changes: Partial<typeof answer>) {
  const { apiVersion, kind } = serviceClass
  const object = { apiVersion, kind, metadata: { name: 'c' }, spec: {} } as unknown as Facts['serviceClass']
  return decide({
    serviceClass: object,
    missing: undefined,
    trouble: undefined,
    seen: undefined,
    answer: { ...answer, ...changes },
  })
}

test.each([
  ['15.9', 150_009],
  ['16.5', 160_005],
  ['17.1', 170_001],
  ['18.0', 180_000],
])('PostgreSQL %s can be shared', (version, versionNumber) => {
  expect(decided({ version, versionNumber })).toEqual({ isReachable: true, refusal: undefined })
})

test.each([
  ['14.20', 140_020, 'from version 15'],
  ['15.8', 150_008, 'update it to 15.9 or newer'],
  ['16.4', 160_004, 'update it to 16.5 or newer'],
  ['17.0', 170_000, 'update it to 17.1 or newer'],
])('PostgreSQL %s cannot, and the message says what to do', (version, versionNumber, cure) => {
  const { refusal } = decided({ version, versionNumber })
  expect(refusal).toMatchObject({ reason: 'ServerUnsuitable', message: expect.stringContaining(`PostgreSQL ${version}`) })
  expect(refusal?.message).toContain(cure)
})

test.each<[string, Partial<typeof answer>, boolean]>([
  ['is as its class says', {}, true],
  ['became another version', { version: '15.10' }, false],
  ['lost its administrator’s rights', { isSuperuser: false }, false],
  ['accepts no writes', { acceptsWrites: false }, false],
])('a server that %s: the answer is from the look: %j, %s', (_, changes, isFromLook) => {
  const seen = { server: { ...answer, ...changes }, database: () => undefined, mayLogIn: () => undefined, restMilliseconds: 1 }
  const found = answerAtRest(seen, { status: { version: '15.9' } })
  expect(found).toEqual(isFromLook ? { ...answer, ...changes } : undefined)
})
