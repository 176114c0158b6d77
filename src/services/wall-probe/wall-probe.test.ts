// The loop: what it records, that it says a thing once, that only the leader looks, and that a new leader goes on where the last
// one was. The API server refuses everything but what a test opens.
import { expect, onTestFinished, test } from 'vitest'
import type { ConfigMap } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { createRecordingLog } from '../../kube/testing/recording-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import { decisive } from './admission/compare.ts'
import type { ShippedObject } from './admission/shipped.ts'
import { createWallProbe } from './wall-probe.ts'

const spec = { validations: [{ expression: 'false' }] }
const shipped: readonly ShippedObject[] = [{ kind: 'ValidatingAdmissionPolicy', name: 'sekisho-x', decisive: decisive({ spec }) }]
const standing = { apiVersion: 'v1', kind: 'X', metadata: { name: 'sekisho-x' }, spec } as unknown as KubeObject
const policy = `ValidatingAdmissionPolicy 'sekisho-own-writes' denied request`
const byRbac = 'secrets is forbidden: User "u" cannot list resource "secrets" in API group ""'
const refusal = (message = policy) => new KubeError(message, { status: 403, reason: 'Forbidden' })

type World = {
  policies: readonly KubeObject[]
  opens?: string
  record?: ConfigMap
  leads: boolean
  answers?: Promise<void>
  tenants?: readonly Tenant[]
}

function startProbe(world: World) {
  const log = createRecordingLog()
  const writes: ConfigMap[] = []
  const events: string[] = []
  let rounds = 0
  const refusing = (opened = false) => ({
    get: async () => {
      await world.answers
      if (opened && world.opens === 'reads') return undefined
      throw refusal(byRbac)
    },
    list: async () => Promise.reject(refusal(byRbac)),
    create: async () => Promise.reject(refusal(byRbac)),
  })
  const probe = createWallProbe({
    client: {
      get: async () => undefined,
      list: async (type: { readonly plural: string }) =>
        (type.plural === 'validatingadmissionpolicies' ? world.policies : []) as never,
      create: async (type: { readonly plural: string }) => {
        if (type.plural.endsWith('/token')) return { status: { token: 'x' } } as never
        throw refusal()
      },
      apply: async (_type, object) => {
        writes.push(object as ConfigMap)
        world.record = object as ConfigMap
        return object as never
      },
    },
    clientWith: () => ({ ...refusing(true), close: async () => {} }),
    records: { get: () => world.record },
    tenants: { list: () => world.tenants ?? [] },
    namespaces: { get: () => undefined },
    policies: { list: () => [] },
    events: { record: (_object, { type, reason, message }) => void events.push(`${type} ${reason}: ${message}`) },
    buildsDockerfiles: false,
    isLeader: () => world.leads,
    everyMilliseconds: 1,
    ...(world.answers === undefined ? {} : { roundMilliseconds: 20 }),
    // Time does not matter here: rounds follow each other at once.
    clock: {
      now: () => new Date(0),
      sleep: () => {
        rounds++
        return new Promise(resolve => setImmediate(resolve))
      },
    },
    log,
    shipped: async () => shipped,
  })
  probe.start()
  onTestFinished(() => probe.stop())
  const more = (count: number) => {
    const from = rounds
    return waitUntil(`${count} more rounds`, seen => seen(rounds) >= from + count)
  }
  return { probe, log, writes, events, more }
}

test('walls that hold are recorded once; one that falls and stands again is said once each', async () => {
  const world: World = { policies: [standing], leads: true }
  const { probe, log, writes, events, more } = startProbe(world)
  await more(5)
  expect(writes.map(({ data }) => data)).toEqual([{ state: 'Holds', findings: '' }])
  expect([events, log.lines, probe.known()?.findings]).toEqual([[], [], []])
  world.policies = []
  await more(5)
  const text = 'validating-policies: ValidatingAdmissionPolicy sekisho-x is not installed'
  expect(events).toEqual([`Warning WallOff: ${text}`])
  expect(log.lines).toMatchObject([{ level: 'error', message: `A WALL IS OFF: ${text}` }])
  expect(writes.map(({ data }) => data?.['state'])).toEqual(['Holds', 'Off'])
  world.policies = [standing]
  await more(5)
  expect(events.slice(1)).toEqual(['Normal WallHolds: validating-policies holds again'])
  expect(writes).toHaveLength(3)
})

test('who is let through without a right is a wall that is off', async () => {
  const { events, more } = startProbe({ policies: [standing], opens: 'reads', leads: true })
  await more(3)
  expect(events).toEqual([expect.stringContaining('Warning WallOff: secrets: the ServiceAccount sekisho-wall-probe')])
})

test('a new leader knows from the record what was off, and says that it holds', async () => {
  const world: World = { policies: [], leads: true }
  const first = startProbe(world)
  await first.more(3)
  await first.probe.stop()
  world.policies = [standing]
  const second = startProbe(world)
  await second.more(3)
  expect(second.events).toEqual(['Normal WallHolds: validating-policies holds again'])
})

test('a replica that does not lead looks at nothing and knows nothing', async () => {
  const world: World = { policies: [], leads: false }
  const { probe, writes, events, more } = startProbe(world)
  await more(5)
  expect([writes, events, probe.known()]).toEqual([[], [], undefined])
})

test('a policy that is being deleted does not count as one that stands', async () => {
  const world: World = { policies: [standing], leads: true }
  const { writes, more } = startProbe(world)
  await more(2)
  world.policies = [{ ...standing, metadata: { name: 'sekisho-x', deletionTimestamp: '2026-01-01T00:00:00Z' } }]
  await more(3)
  expect(writes.at(-1)?.data?.['findings']).toContain('ValidatingAdmissionPolicy sekisho-x is being deleted')
})

test('what is compared is said before anything is tried, and what a slow API server left no time for is unknown, then off', async () => {
  const { promise: answers, resolve } = Promise.withResolvers<void>()
  const world: World = { policies: [], leads: true, answers }
  const { writes, events, more, probe } = startProbe(world)
  await more(1)
  expect(writes[0]?.data?.['findings']).toContain('ValidatingAdmissionPolicy sekisho-x is not installed')
  const later = writes.at(-1)?.data?.['findings'] ?? ''
  expect(later).toMatch(/"secrets","verdict":"Unknown".*the round took too long/)
  await more(4)
  expect(events.some(event => event.startsWith('Warning WallOff: secrets: it could not be looked at for 3 rounds'))).toBe(true)
  resolve()
  world.policies = [standing]
  await more(3)
  expect(probe.known()?.findings).toEqual([])
})

test('what was known does not outlive the lead', async () => {
  const world: World = { policies: [standing], leads: true }
  const { probe, more } = startProbe(world)
  await more(3)
  expect(probe.known()).toBeDefined()
  world.leads = false
  expect(probe.known()).toBeUndefined()
  world.leads = true
  expect(probe.known()).toBeUndefined()
  await more(2)
  expect(probe.known()?.findings).toEqual([])
})

test('what is found by a try is not said to hold by what is compared in the same place', async () => {
  const acme = { metadata: { name: 'acme' }, spec: { namespace: 'acme' }, status: { namespace: 'acme' } } as unknown as Tenant
  const { events, more, writes } = startProbe({ policies: [standing], leads: true, tenants: [acme] })
  // Here a policy refuses the pod, so that Pod Security let it through; labels say nothing of it.
  await more(8)
  expect(events.filter(event => event.includes('pod-security'))).toEqual([
    expect.stringContaining('WallOff: pod-security in acme-build: a dry run of the controllers was allowed'),
  ])
  const count = writes.length
  await more(5)
  expect(writes).toHaveLength(count)
})
