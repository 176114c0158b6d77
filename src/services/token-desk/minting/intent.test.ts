// Which requests may share a token: two cache keys are equal exactly when everything that defines a token is.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Admitted } from '../checks.ts'
import { grantObject, installationObject } from '../testing/desk-objects.ts'
import { intentOf } from './intent.ts'

const word = fc.constantFrom('a', 'b', 'a/b', '')
const id = fc.integer({ min: 1, max: 2 })
const parts = fc.record({
  host: word,
  appId: id,
  installationId: id,
  grantUid: word,
  kind: word,
  namespace: word,
  name: word,
  uid: word,
  repositoryIds: fc.uniqueArray(id).map(ids => ids.sort()),
  permissions: fc.dictionary(fc.constantFrom('contents', 'issues'), fc.constantFrom('read', 'write')),
})
type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never

function admittedWith(given: Parts, ids = given.repositoryIds): Admitted {
  const { host, appId, installationId, grantUid, kind, namespace, name, uid } = given
  return {
    grant: grantObject({ spec: { permissions: given.permissions } }),
    grantUid,
    installation: { ...installationObject, spec: { ...installationObject.spec, installationId } },
    app: { host, appId, api: 'https://api.github.example', web: 'https://github.example' },
    subject: { kind, namespace, name, uid },
    repositories: ids.map(one => ({ id: one, name: `acme/${one}` })),
  }
}

const fields = [
  'host',
  'appId',
  'installationId',
  'grantUid',
  'kind',
  'namespace',
  'name',
  'uid',
  'repositoryIds',
  'permissions',
] as const

test('requests that differ in one field have different keys', () => {
  fc.assert(
    fc.property(parts, parts, fc.constantFrom(...fields), (a, other, field) => {
      const b: Parts = { ...a, [field]: other[field] }
      const { permissions: ofA, ...restA } = a
      const { permissions: ofB, ...restB } = b
      const sorted = (permissions: object) => Object.entries(permissions).sort()
      const same = JSON.stringify([restA, sorted(ofA)]) === JSON.stringify([restB, sorted(ofB)])
      expect(intentOf(admittedWith(a)).cacheKey === intentOf(admittedWith(b)).cacheKey).toBe(same)
    }),
    { numRuns: 500 },
  )
})

test('the order and repetition of repositories do not change the key, and ids are sorted', () => {
  fc.assert(
    fc.property(parts, given => {
      const again = admittedWith(given, [...given.repositoryIds.toReversed(), ...given.repositoryIds])
      expect(intentOf(again)).toEqual(intentOf(admittedWith(given)))
    }),
  )
})
