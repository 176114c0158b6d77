// One round of deletion: whose logs go, which limits the store is given, and what is asked of the API server.
import { expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { createFakeClock } from '../../../lib/testing/fake-clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { LogOwner } from '../../../store/builds/build-logs.ts'
import { deleteLogs, ownLimits, type RetentionDeps } from './retention.ts'

const clock = createFakeClock()
const owner = (name: string, uid = `uid-${name}`): LogOwner => ({ namespace: 'acme', remoteSync: name, uid })
const object = (uid: string | undefined) => (uid === undefined ? undefined : ({ metadata: { uid } } as RemoteSync))

/**
 * `cached` and `live` are the uids by name, as the cache and the API server have them; `pages` is what the store lists, page by
 * page.
 */
function environment(given: {
  readonly pages: readonly (readonly LogOwner[])[]
  readonly cached?: Readonly<Record<string, string>>
  readonly live?: Readonly<Record<string, string>>
  readonly tenants?: readonly Tenant[]
}) {
  const { pages, cached = {}, live = {}, tenants = [] } = given
  const seen = { asked: [] as string[], deleted: [] as string[], after: [] as string[], expired: [] as object[] }
  const deps: RetentionDeps = {
    logs: {
      async owners(after) {
        seen.after.push(after)
        return pages[seen.after.length - 1] ?? []
      },
      async deleteOf(uid) {
        seen.deleted.push(uid)
        return 1
      },
      async expire(usual, own) {
        seen.expired.push({ usual, own: Object.fromEntries(own) })
        return 0
      },
    },
    remoteSyncs: { get: ({ name }) => object(cached[name]) },
    client: {
      async get(_type: unknown, { name }: { readonly name: string }) {
        seen.asked.push(name)
        return object(live[name])
      },
    } as unknown as RetentionDeps['client'],
    tenants: { list: () => tenants },
    days: 30,
    maxOfTenant: 1000,
    isLeader: () => true,
    clock,
    log: silentLog,
  }
  return { deps, seen }
}

test('logs go with their RemoteSync, which only the API server can say is gone', async () => {
  const { deps, seen } = environment({
    pages: [[owner('kept'), owner('new'), owner('gone')], [owner('made-again', 'uid-before')]],
    cached: { kept: 'uid-kept', 'made-again': 'uid-made-again' },
    live: { kept: 'uid-kept', new: 'uid-new', 'made-again': 'uid-made-again' },
  })
  await deleteLogs(deps)
  expect(seen.asked).toEqual(['new', 'gone', 'made-again'])
  expect(seen.deleted).toEqual(['uid-gone', 'uid-before'])
  expect(seen.after).toEqual(['', 'uid-gone', 'uid-before'])
})

test('nothing is deleted when the API server does not answer', async () => {
  const { deps, seen } = environment({ pages: [[owner('gone')]] })
  const client = { get: () => Promise.reject(new Error('no answer')) } as unknown as RetentionDeps['client']
  await expect(deleteLogs({ ...deps, client })).rejects.toThrow('no answer')
  expect(seen.deleted).toEqual([])
  expect(seen.expired).toEqual([])
})

test('one round asks at most 200 times, and still deletes what is old', async () => {
  const many = Array.from({ length: 250 }, (_, index) => owner(`gone-${index}`))
  const { deps, seen } = environment({ pages: [many, [owner('later')]] })
  await deleteLogs(deps)
  expect(seen.asked).toHaveLength(200)
  expect(seen.deleted).toHaveLength(200)
  expect(seen.after).toEqual([''])
  expect(seen.expired).toHaveLength(1)
})

const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * 24 * 3_600_000)
const tenant = (namespace: string, buildLogs?: object): Tenant =>
  ({ spec: { namespace, ...(buildLogs === undefined ? {} : { limits: { buildLogs } }) } }) as unknown as Tenant

test('the store is given the age and the share of a tenant, and those of the tenants that have their own', async () => {
  const tenants = [
    tenant('acme'),
    tenant('globex', { days: 90 }),
    tenant('initech', { megabytes: 64 }),
    tenant('hooli', { days: 30 }),
  ]
  const { deps, seen } = environment({ pages: [], tenants })
  await deleteLogs(deps)
  const own = {
    globex: { before: daysAgo(90), maxStored: 1000 },
    initech: { before: daysAgo(30), maxStored: 64 * 1_048_576 },
  }
  expect(seen.expired).toEqual([{ usual: { before: daysAgo(30), maxStored: 1000 }, own }])
})

test('of two Tenants that name one namespace, the one that keeps more counts', () => {
  const usual = { days: 30, maxOfTenant: 100 * 1_048_576 }
  const other = tenant('acme', { days: 7, megabytes: 64 })
  expect(ownLimits([other], usual, clock.now()).get('acme')).toEqual({ before: daysAgo(7), maxStored: 64 * 1_048_576 })
  for (const both of [
    [tenant('acme'), other],
    [other, tenant('acme')],
  ])
    expect(ownLimits(both, usual, clock.now())).toEqual(new Map())
})
