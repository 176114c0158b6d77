// The user ids of tenants on a real API server: who gets a range when several are given at once, when none is left, when a
// Tenant is made anew, and when it is older than ranges. What the tenant runs is not touched by any of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configMaps, deployments, namespaces, pods, roleBindings } from '../../src/api/builtin/index.ts'
import { buildNamespaceOf, labels } from '../../src/api/names.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import { type Tenant, tenant } from '../../src/api/tenancy/tenant.ts'
import { createUserRanges, userRangesMap } from '../../src/controllers/tenant/users/user-ranges.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { firstUserOf, maxUserRanges, userRangeSize } from '../../src/lib/limits/user-range.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { withKube } from '../fixtures/kube-access.ts'
import { giveRightsIn, withClientOf } from '../fixtures/process-clients.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

const fieldManager = 'test'
let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

/** A tenant whose controllers keep the record of ranges in a namespace of its own, which the test fills as it likes. */
async function withRecord(data: Readonly<Record<string, string>> = {}) {
  const { client, namespace: records } = await withKube()
  await giveRightsIn(records, 'platform')
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: records, name: userRangesMap }, data }
  await client.create(configMaps, map, { fieldManager })
  const key = { namespace: records, name: userRangesMap }
  const change = (entries: Readonly<Record<string, string | null>>) =>
    client.mergePatch(configMaps, key, { data: entries }, { fieldManager })
  const recorded = async () => (await client.get(configMaps, key))?.data
  return { ...(await withTenant(environment, undefined, records)), change, recorded }
}

/** Once the Tenant says of its present form that it is so. */
async function untilReady({ client, namespace: name }: TenantFixture, reason = 'NamespacesReady', not?: Tenant): Promise<Tenant> {
  return waitUntil(`Tenant is ${reason}`, async () => {
    const found = await client.get(tenant, { name })
    const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.reason !== reason || ready.observedGeneration !== found?.metadata.generation)
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    return found?.metadata.uid === not?.metadata.uid ? undefined : found
  })
}

const usersOf = (index: number) => ({ first: firstUserOf(index), last: firstUserOf(index) + userRangeSize - 1 })

/** What the namespaces of the tenant say. */
async function labelled({
  client,
  namespace,
}: Pick<TenantFixture, 'client' | 'namespace'>): Promise<readonly (string | undefined)[]> {
  const both = [namespace, buildNamespaceOf(namespace)]
  const found = await Promise.all(both.map(name => client.get(namespaces, { name })))
  return found.map(one => one?.metadata.labels?.[labels.firstUser])
}

test('processes that give ranges at once give each Tenant one of its own', async () => {
  const { namespace } = await withKube()
  await giveRightsIn(namespace, 'platform')
  const client = await withClientOf('sekisho-controllers')
  const names = Array.from({ length: 12 }, (_, index) => `tenant-${index}`)
  const allot = async (name: string): Promise<number | undefined> => {
    const process = createUserRanges({ client, platformNamespace: namespace, namespaces: { list: () => [] } })
    for (;;)
      try {
        return await process.allot({ metadata: { name, uid: name } } as Tenant)
      } catch (error) {
        if (!isKubeError(error, 409)) throw error
      }
  }
  const given = await Promise.all(names.map(allot))
  expect(given.toSorted()).toEqual(names.map((_, index) => firstUserOf(index)))
  expect(await Promise.all(names.map(allot))).toEqual(given)
})

test('a Tenant for which no range is left says so with the cure, and gets the first that ends', async () => {
  const every = Array.from({ length: maxUserRanges }, (_, index) => [
    String(index),
    `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  ])
  const fixture = await withRecord(Object.fromEntries(every))
  await fixture.applyTenant()
  const refused = await untilReady(fixture, 'NoUserRange')
  expect(refused.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    message: `all ${maxUserRanges} ranges of user ids belong to other Tenants: delete a Tenant that is not used`,
  })
  expect(refused.status?.users).toBeUndefined()
  expect(await labelled(fixture)).toEqual([undefined, undefined])

  await fixture.change({ 4711: null })
  // It is asked again every minute, and when its Tenant changes.
  await fixture.applyTenant({ roles: [{ role: 'admin', subject: { type: 'Owners' } }] })
  const found = await untilReady(fixture)
  expect(found.status?.users).toEqual(usersOf(4711))
  expect(await labelled(fixture)).toEqual([String(firstUserOf(4711)), String(firstUserOf(4711))])
  expect(Object.keys((await fixture.recorded()) ?? {})).toHaveLength(maxUserRanges + 1)
})

test('a Tenant that is made anew does not get the range of the one that was deleted, which nobody has any more', async () => {
  const fixture = await withRecord()
  await fixture.applyTenant()
  const first = await untilReady(fixture)
  expect(first.status?.users).toEqual(usersOf(0))
  await fixture.client.delete(tenant, { name: fixture.namespace })
  await waitUntil('the Tenant to be gone', async () => !(await fixture.client.get(tenant, { name: fixture.namespace })))
  expect(await fixture.recorded()).toEqual({ last: '0' })
  await fixture.applyTenant()
  const second = await untilReady(fixture, 'NamespacesReady', first)
  expect(second.status?.users).toEqual(usersOf(1))
  expect(await labelled(fixture)).toEqual([String(firstUserOf(1)), String(firstUserOf(1))])
})

async function unlabel({ client, namespace }: TenantFixture): Promise<void> {
  for (const name of [namespace, buildNamespaceOf(namespace)])
    await client.mergePatch(namespaces, { name }, { metadata: { labels: { [labels.firstUser]: null } } }, { fieldManager })
}

/** Takes from the tenant what a version without ranges did not write. */
async function forgetRange(fixture: TenantFixture): Promise<void> {
  const admin = await testAdmin()
  await unlabel(fixture)
  const path = `/apis/${tenant.apiVersion}/${tenant.plural}/${fixture.namespace}/status`
  await admin.call('PATCH', path, { status: { users: null } }, 'application/merge-patch+json')
}

async function runSomething({ client, namespace }: { readonly client: KubeClient; readonly namespace: string }): Promise<void> {
  const resources = { requests: { cpu: '1m', memory: '1Mi' }, limits: { memory: '1Mi' } }
  const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  const container = { name: 'main', image: 'registry.test/nothing', resources, securityContext: security }
  const podSecurity = { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } }
  const spec = {
    replicas: 1,
    selector: { matchLabels: { app: 'old' } },
    template: { metadata: { labels: { app: 'old' } }, spec: { containers: [container], securityContext: podSecurity } },
  }
  const { apiVersion, kind } = deployments
  await client.create(deployments, { apiVersion, kind, metadata: { namespace, name: 'old' }, spec } as never, { fieldManager })
}

/** What must be as it was: the objects themselves, and what somebody wants of them. */
async function inventory({ client, namespace }: TenantFixture): Promise<readonly string[]> {
  const found: (readonly KubeObject[])[] = []
  for (const type of [pods, deployments, roleBindings] as readonly ResourceType[])
    found.push(await client.list(type, { namespace }))
  return found.flat().map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.generation ?? metadata.resourceVersion}`)
}

test('a Tenant that is older than ranges gets one when the new version starts, the same whenever its label is lost, and its pods go on', async () => {
  const fixture = await withRecord()
  const { client, namespace } = fixture
  await fixture.applyTenant()
  const { status, metadata } = await untilReady(fixture)
  await runSomething(fixture)
  await waitUntil('the pod to be made', async () => (await client.list(pods, { namespace }))[0])
  const before = await inventory(fixture)
  const hasItsRangeAgain = async (index: number): Promise<void> => {
    const first = String(firstUserOf(index))
    await waitUntil(`both namespaces to say ${first}`, async () => (await labelled(fixture)).every(one => one === first))
    const found = await waitUntil('the Tenant to say its range', async () => {
      const now = await client.get(tenant, { name: namespace })
      return now?.status?.users === undefined ? undefined : now
    })
    expect(found.status?.users).toEqual(usersOf(index))
    expect(found.status?.conditions).toEqual(status?.conditions)
    expect(await inventory(fixture)).toEqual(before)
  }

  await fixture.restart(() => forgetRange(fixture))
  await hasItsRangeAgain(0)
  await unlabel(fixture)
  await hasItsRangeAgain(0)
  await fixture.restart(async () => {
    await forgetRange(fixture)
    await fixture.change({ 0: 'another', last: null })
  })
  await hasItsRangeAgain(1)
  expect(await fixture.recorded()).toEqual({ 0: 'another', 1: metadata.uid, last: '1' })
})
