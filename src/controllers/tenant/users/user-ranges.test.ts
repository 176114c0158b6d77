// The record of ranges: conditional on the version that was read, and second to what namespaces say.
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../api/resource.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { firstUserOf } from '../../../lib/limits/user-range.ts'
import { createUserRanges } from './user-ranges.ts'

const tenant = (name: string): Tenant => ({ metadata: { name, uid: `uid-${name}` } }) as Tenant

/** One ConfigMap with the versions of an API server; `beforeWrite` is another process. */
function record(beforeWrite?: (data: Record<string, string>) => void) {
  let data: Record<string, string> | undefined
  let version = 0
  const conflict = (): Error => Object.assign(new Error('conflict'), { status: 409 })
  const disturb = (): void => {
    if (beforeWrite === undefined) return
    data = { ...data }
    beforeWrite(data)
    version += 1
    beforeWrite = undefined
  }
  const client = {
    get: async () => data && { metadata: { resourceVersion: String(version) }, data: { ...data } },
    apply: async () => {
      data ??= {}
    },
    mergePatch: async (
      _: unknown,
      __: unknown,
      patch: { metadata: { resourceVersion: string }; data: Record<string, string | null> },
    ) => {
      disturb()
      if (patch.metadata.resourceVersion !== String(version)) throw conflict()
      const entries = Object.entries({ ...data, ...patch.data }).filter(([, uid]) => uid !== null)
      data = Object.fromEntries(entries) as Record<string, string>
      version += 1
      return {}
    },
  } as unknown as Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  return { client, data: () => data }
}

const ranges = (client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>, namespaces: readonly object[] = []) =>
  createUserRanges({ client, platformNamespace: 'sekisho-system', namespaces: { list: () => namespaces as KubeObject[] } })

test('each Tenant gets a range, once; one that ended gives it back', async () => {
  const { client, data } = record()
  const { allot, release } = ranges(client)
  expect(await allot(tenant('acme'))).toBe(firstUserOf(0))
  expect(await allot(tenant('globex'))).toBe(firstUserOf(1))
  expect(await allot(tenant('acme'))).toBe(firstUserOf(0))
  expect(data()).toEqual({ 0: 'uid-acme', 1: 'uid-globex', last: '1' })
  await release(tenant('globex'))
  await release(tenant('globex'))
  expect(data()).toEqual({ 0: 'uid-acme', last: '1' })
  expect(await allot(tenant('initech'))).toBe(firstUserOf(2))
})

test('of two leaders that give a range at once, the second one fails and sees the first one’s when it tries again', async () => {
  const { client, data } = record(taken => {
    taken['0'] = 'uid-globex'
  })
  const { allot } = ranges(client)
  await expect(allot(tenant('acme'))).rejects.toThrow('conflict')
  expect(await allot(tenant('acme'))).toBe(firstUserOf(1))
  expect(data()).toEqual({ 0: 'uid-globex', 1: 'uid-acme', last: '1' })
})

test('a namespace of another Tenant keeps its range although the record was lost', async () => {
  const metadata = {
    name: 'globex',
    labels: { 'sekisho.dev/tenant': 'globex', 'sekisho.dev/first-user': String(firstUserOf(0)) },
  }
  const { allot } = ranges(record().client, [{ metadata }])
  expect(await allot(tenant('acme'))).toBe(firstUserOf(1))
})
