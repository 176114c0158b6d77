// Two replicas of the controllers on one PostgreSQL: the one that does not lead delivers tokens too, sees what the leader
// revoked, and shares the quota; a leader that dies between GitHub's answer and its own record loses nothing and leaves nothing
// behind. PGlite has one writer, so it cannot have replicas.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../dev/postgres/start-postgres.ts'
import { endpointSlices } from '../../src/api/builtin/index.ts'
import type { RepositoryGrant } from '../../src/api/github/repository-grant.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { platformNamespace } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { createManager } from '../../src/kube/manager.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { createSourceEndpoint } from '../../src/services/builds/source-endpoint.ts'
import { sweepOnce } from '../../src/services/token-desk/sweep.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { gone, readyReason } from '../fixtures/application-fixture.ts'
import { withCut, withLeasesOf } from '../fixtures/broker-replica.ts'
import { openTestStore, type TestStore } from '../fixtures/databases.ts'
import { withKube } from '../fixtures/kube-access.ts'
import { withClientOf } from '../fixtures/process-clients.ts'
import { shortLease } from '../fixtures/short-lease.ts'
import {
  type DeskEnvironment,
  type DeskReplica,
  type ReplicaOptions,
  startDeskEnvironment,
  type TenantFixture,
  withTenant,
} from '../fixtures/token-desk-fixture.ts'

let postgres: TestPostgres
let environment: DeskEnvironment
let stores: readonly [TestStore, TestStore]

beforeAll(async () => {
  postgres = await startPostgres()
  const location = { url: postgres.url('postgres') }
  environment = await startDeskEnvironment(location)
  stores = [environment.store, await openTestStore(location)]
})
afterAll(async () => {
  await stores?.[1].close()
  await environment?.stop()
  await postgres?.stop()
})

type Pair = { readonly fixture: TenantFixture; readonly leader: DeskReplica; readonly follower: DeskReplica }

/** A ready tenant with an Installation. */
async function readyPair(limits: object = {}, [first, second]: readonly ReplicaOptions[] = []): Promise<Pair> {
  const fixture = await withTenant(environment, [first ?? { store: stores[0] }, second ?? { store: stores[1] }])
  await fixture.applyTenant(limits)
  await waitUntil('the Tenant is ready', async () => {
    const found = await fixture.client.get(tenant, { name: fixture.namespace })
    return findCondition(found?.status?.conditions, 'Ready')?.status === 'True'
  })
  await fixture.bind()
  const leader = fixture.replicas.find(({ isLeader }) => isLeader())
  const follower = fixture.replicas.find(replica => replica !== leader)
  if (leader === undefined || follower === undefined) throw new Error('one of the two must lead')
  return { fixture, leader, follower }
}

/**
 * A replica that dies, once `arm` was called, when GitHub has minted a token under a grant: it does not read the answer, and
 * nothing that it does afterwards reaches the database. The request itself ends, because replicas in one process share
 * Octokit's queue of an App's mints, and those in processes of their own do not.
 */
function mortal(store: TestStore): ReplicaOptions & { readonly arm: () => Promise<void> } {
  const death = Promise.withResolvers<void>()
  let state: 'well' | 'armed' | 'dead' = 'well'
  const whileAlive = <T extends object>(repository: T): T =>
    Object.fromEntries(
      Object.entries(repository).map(([name, method]) => [
        name,
        (...all: unknown[]) => (state === 'dead' ? new Promise(() => {}) : (method as (...all: unknown[]) => unknown)(...all)),
      ]),
    ) as T
  return {
    store: { ...store, tokens: whileAlive(store.tokens), audit: whileAlive(store.audit) },
    async fetch(input, init) {
      const answer = await fetch(input, init)
      // The grant controller's own tokens do not read contents.
      const isOfGrant = String(input).endsWith('/access_tokens') && String(init?.body).includes('"contents"')
      if (state === 'armed' && isOfGrant) {
        state = 'dead'
        death.resolve()
      }
      if (state === 'dead') throw new Error('this process is dead')
      return answer
    },
    arm() {
      state = 'armed'
      return death.promise
    },
  }
}

async function approvedGrant(fixture: TenantFixture, name: string): Promise<RepositoryGrant> {
  const grant = await fixture.requestGrant(name, 'dave')
  await readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name }, 'Approved')
  return grant
}

const requestOf = ({ namespace }: TenantFixture, grant: RepositoryGrant, pod = 'runner-uid') => ({
  grant,
  subject: { kind: 'ServiceAccount', namespace, name: 'runner', uid: pod },
  actor: 'test',
})

/** Of tokens under grants: the controller's own look at a grant has a token of its own. */
async function actionsOf(namespace: string): Promise<Record<string, number>> {
  const all = await stores[1].audit.list({ namespace, limit: 1000 })
  const entries = all.filter(({ actor }) => actor !== 'sekisho:repository-grant-controller')
  return Object.fromEntries(
    Map.groupBy(entries, ({ action }) => action)
      .entries()
      .map(([action, all]) => [action, all.length]),
  )
}

describe('the token desk of two replicas', () => {
  test('delivers at both; equal requests at once cost at most one more token, and what the leader revoked nobody delivers', async () => {
    const { fixture, follower, leader } = await readyPair()
    const grant = await approvedGrant(fixture, 'both')
    const request = requestOf(fixture, grant)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? leader : follower).desk.request(request)),
    )
    expect(new Set(answers.map(({ token }) => token.reveal())).size).toBeLessThanOrEqual(2)
    expect((await actionsOf(fixture.namespace))['token.minted']).toBeLessThanOrEqual(2)
    const latest = await follower.desk.request(request)

    await fixture.client.delete(repositoryGrant, { namespace: fixture.namespace, name: 'both' })
    await gone(fixture.client, repositoryGrant, { namespace: fixture.namespace, name: 'both' })
    await expect(follower.desk.request(request)).rejects.toMatchObject({ code: 'forbidden' })
    const headers = { authorization: `Bearer ${latest.token.reveal()}` }
    expect((await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers })).status).toBe(401)
    expect(await follower.store.tokens.hasLive({ grantUid: grant.metadata.uid ?? '' })).toBe(false)
  })

  test('shares the quota of a tenant exactly', async () => {
    const { fixture, leader, follower } = await readyPair({ limits: { tokensPerHour: 10 } })
    const grant = await approvedGrant(fixture, 'quota')
    // Each with a subject of its own: none can have the token of another.
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? leader : follower).desk.request(requestOf(fixture, grant, `uid-${index}`)),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'too_many_requests' })
  })

  test('a leader that dies while GitHub answers: the other delivers, and the lost token is accounted for once', async () => {
    const replicas = stores.map(mortal)
    const { fixture, leader, follower } = await readyPair({}, replicas)
    const grant = await approvedGrant(fixture, 'dying')
    const death = replicas.find(({ store }) => store === leader.store)?.arm()
    // It never resolves; a request that was refused instead is what the test tells.
    await Promise.race([death, leader.desk.request(requestOf(fixture, grant))])
    leader.cut()
    const delivered = await follower.desk.request(requestOf(fixture, grant))
    expect(delivered.repositories.map(({ fullName }) => fullName)).toEqual(['acme/shop'])
    await waitUntil('the next leader', async () => follower.isLeader() || undefined)

    const later = { ...systemClock, now: () => new Date(Date.now() + 6 * 60_000) }
    await sweepOnce({ ...follower.sweep, clock: later })
    await sweepOnce({ ...follower.sweep, clock: later })
    const actions = await actionsOf(fixture.namespace)
    // Two intents, one token that counts, and one outcome for the other.
    expect(actions).toMatchObject({ 'token.intended': 2, 'token.minted': 1, 'token.refused': 1 })
    expect(await verifyLog(stores[0].audit)).toMatchObject({ ok: true })
  })
})

describe('builds', () => {
  test('find the source at the leader: the next one names itself after a loss, and after an orderly end', async () => {
    const { client, namespace } = await withKube()
    const ofControllers = await withClientOf('sekisho-controllers')
    const replica = async (address: string) => {
      const { kube, cut } = withCut(withLeasesOf(client, ofControllers))
      const leaderElection = { namespace, name: 'sources', identity: address, times: shortLease }
      const shared = { log: silentLog, clock: systemClock, random: Math.random }
      const manager = createManager({ ...shared, client: kube, leaderElection })
      const loop = createSourceEndpoint({ ...manager, ...shared, address, port: 8081 })
      await manager.start()
      loop.start()
      const stop = async (): Promise<void> => {
        await manager.stop()
        await loop.stop()
      }
      onTestFinished(stop)
      return { stop, cut, isLeader: manager.isLeader }
    }
    const leads = (address: string) =>
      waitUntil(`the Service leads to ${address}`, async () => {
        const slice = await client.get(endpointSlices, { namespace: platformNamespace, name: 'sekisho-source' })
        return slice?.endpoints?.length === 1 && slice.endpoints[0]?.addresses[0] === address
      })
    const one = await replica('10.1.0.1')
    await leads('10.1.0.1')
    const two = await replica('10.1.0.2')
    one.cut()
    await leads('10.1.0.2')
    expect(one.isLeader()).toBe(false)
    const three = await replica('10.1.0.3')
    await two.stop()
    await leads('10.1.0.3')
    expect(three.isLeader()).toBe(true)
    await client.delete(endpointSlices, { namespace: platformNamespace, name: 'sekisho-source' })
  })
})
