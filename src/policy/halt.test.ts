// What a Halt stands in the way of: each target by its number or name, within its namespace, until it is lifted.
import { describe, expect, test } from 'vitest'
import type { Halt } from '../api/github/halt.ts'
import { type HaltSubject, haltedText, haltOf } from './halt.ts'
import { haltObject } from './testing/halt-object.ts'

const host = 'github.localhost'
const subject: HaltSubject = {
  namespace: 'acme',
  tenant: 'acme',
  grant: 'read-shop',
  requestedBy: `github|${host}|1002`,
  host,
  installationId: 77,
  accountId: 2001,
  repositoryIds: [4001, 4002],
  workload: { kind: 'ServiceAccount', name: 'runner' },
}
const had = { namespace: 'acme', grant: 'read-shop', kind: 'ServiceAccount', name: 'runner' }
const token = { type: 'Token', token: { hash: 'x' } } as const

const halts = (target: Halt['spec']['target'], given: Partial<HaltSubject> = {}, status?: Halt['status']): boolean =>
  haltOf([haltObject(target, status === undefined ? {} : { status })], { ...subject, ...given }) !== undefined

describe('a Halt', () => {
  test.each<[string, Halt['spec']['target'], Partial<HaltSubject>]>([
    ['a grant', { type: 'Grant', grant: { namespace: 'acme', name: 'read-shop' } }, { grant: 'write-shop' }],
    ['a grant of another namespace', { type: 'Grant', grant: { namespace: 'acme', name: 'read-shop' } }, { namespace: 'globex' }],
    ['a repository', { type: 'Repository', repository: { host, id: 4002 } }, { repositoryIds: [4001] }],
    ['a repository of another host', { type: 'Repository', repository: { host, id: 4001 } }, { host: 'github.com' }],
    ['a person', { type: 'Person', person: { host, id: 1002 } }, { requestedBy: `github|${host}|1003` }],
    ['a person of another host', { type: 'Person', person: { host, id: 1002 } }, { requestedBy: 'github|github.com|1002' }],
    [
      'a person, and no ServiceAccount',
      { type: 'Person', person: { host, id: 1002 } },
      { requestedBy: 'system:serviceaccount:a:b' },
    ],
    ['a tenant', { type: 'Tenant', tenant: { name: 'acme' } }, { tenant: 'globex' }],
    ['an installation', { type: 'Installation', installation: { host, id: 77 } }, { installationId: 78 }],
    [
      'an account',
      { type: 'Installation', installation: { host, id: 1, account: 2001 } },
      { installationId: 1, accountId: 2002, host: 'github.com' },
    ],
    [
      'an account that is not known',
      { type: 'Installation', installation: { host, id: 77 } },
      { installationId: 78, accountId: undefined },
    ],
    ['everything', { type: 'Everything' }, { namespace: undefined }],
  ])('of %s stands in the way of that alone', (_what, target, other) => {
    expect([halts(target), halts(target, other)]).toEqual([true, false])
  })

  test('of an installation holds when the account installs the App again', () => {
    const target = { type: 'Installation', installation: { host, id: 77, account: 2001 } } as const
    expect(halts(target, { installationId: 78 })).toBe(true)
    expect(halts(target, { installationId: 78, accountId: 2002 })).toBe(false)
    expect(halts(target, { installationId: 78, host: 'github.com' })).toBe(false)
  })

  test('of a token stands in the way of whoever had it, under that grant, once that is known', () => {
    expect(halts(token)).toBe(false)
    expect(halts(token, {}, { subject: had })).toBe(true)
    for (const other of [
      { ...had, namespace: 'globex' },
      { ...had, grant: 'x' },
      { ...had, kind: 'RemoteSync' },
      { ...had, name: 'x' },
    ])
      expect(halts(token, {}, { subject: other }), JSON.stringify(other)).toBe(false)
  })

  test('in the namespace of a tenant holds for that tenant only', () => {
    for (const target of [{ type: 'Everything' }, { type: 'Person', person: { host, id: 1002 } }] as const) {
      const ofTenant = haltObject(target, { namespace: 'acme' })
      expect(haltOf([ofTenant], subject)).toBe(ofTenant)
      expect(haltOf([ofTenant], { ...subject, namespace: 'globex' })).toBeUndefined()
      // Such as a sign-in.
      expect(haltOf([ofTenant], { requestedBy: subject.requestedBy })).toBeUndefined()
    }
  })

  test('that is lifted, or a dry run, stands in the way of nothing; another one of the same still does', () => {
    const lifted = haltObject({ type: 'Everything' }, { spec: { lifted: { by: 'x', reason: 'over' } } })
    const dry = haltObject({ type: 'Everything' }, { spec: { dryRun: true } })
    const standing = haltObject({ type: 'Tenant', tenant: { name: 'acme' } })
    expect(haltOf([lifted, dry], subject)).toBeUndefined()
    expect(haltOf([lifted, dry, standing], subject)).toBe(standing)
  })

  test('is named to whoever is refused, without its reason', () => {
    const text = haltedText(haltObject({ type: 'Everything' }))
    expect(text).toBe('halted by Halt sekisho-system/stop until a platform admin lifts it (sekisho resume stop)')
  })
})
