// People who are halted: who counts as one, what of theirs ends, and which accounts cannot be onboarded meanwhile.
import { expect, test } from 'vitest'
import { type Halt, halt } from '../../api/github/halt.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { createObjectCache } from '../../kube/cache/object-cache.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { createBrokerHaltController, wouldEnd } from './halt-controller.ts'
import { createHaltedPeople } from './halted-people.ts'

const host = 'github.com'
const ofPerson = { type: 'Person', person: { host, id: 42 } } as const
const acme = { metadata: { name: 'acme' }, spec: { account: { host, id: 7 } } } as unknown as Tenant
const peopleBy = (halts: readonly Halt[]) => createHaltedPeople({ list: () => halts }, { list: () => [acme] })

test('a person is halted by a Halt of the platform, and not by one of a tenant', () => {
  expect(peopleBy([haltObject(ofPerson)]).isHalted(host, 42)).toBe(true)
  expect(peopleBy([haltObject(ofPerson)]).isHalted(host, 43)).toBe(false)
  expect(peopleBy([haltObject(ofPerson)]).isHalted('github.example.com', 42)).toBe(false)
  expect(peopleBy([haltObject(ofPerson, { namespace: 'acme' })]).isHalted(host, 42)).toBe(false)
  // What stops all tokens stops nobody from looking.
  expect(peopleBy([haltObject({ type: 'Everything' })]).isHalted(host, 42)).toBe(false)
  expect(() => peopleBy([haltObject(ofPerson)]).refuse(host, 42)).toThrow(/halted by Halt sekisho-system\/stop/)
})

test('the account of a halted tenant cannot be onboarded, by whomever, nor any account by a halted person', () => {
  const account = { host, id: 7 }
  expect(peopleBy([]).ofOnboarding(account, 1)).toBeUndefined()
  expect(peopleBy([haltObject({ type: 'Tenant', tenant: { name: 'acme' } })]).ofOnboarding(account, 1)).toContain('stop')
  expect(peopleBy([haltObject({ type: 'Tenant', tenant: { name: 'acme' } })]).ofOnboarding({ host, id: 8 }, 1)).toBeUndefined()
  expect(peopleBy([haltObject(ofPerson)]).ofOnboarding({ host, id: 8 }, 42)).toContain('stop')
})

test('a tenant as a whole is halted by the platform or by its own admins, and the former is shown first', () => {
  const own = haltObject({ type: 'Tenant', tenant: { name: 'acme' } }, { namespace: 'acme', spec: { reason: 'own' } })
  const ofPlatform = haltObject({ type: 'Tenant', tenant: { name: 'acme' } })
  const everything = haltObject({ type: 'Everything' })
  const grant = haltObject({ type: 'Grant', grant: { namespace: 'acme', name: 'read' } })
  const tenant = { ...acme, spec: { ...acme.spec, namespace: 'acme' } }
  expect(peopleBy([own, ofPlatform]).ofTenant(tenant)).toBe(ofPlatform)
  expect(peopleBy([everything]).ofTenant(tenant, 'platform')).toBe(everything)
  expect(peopleBy([own]).ofTenant(tenant)).toBe(own)
  // Its own admins keep no owner from anything.
  expect(peopleBy([own]).ofTenant(tenant, 'platform')).toBeUndefined()
  expect(peopleBy([grant, haltObject({ type: 'Tenant', tenant: { name: 'other' } })]).ofTenant(tenant)).toBeUndefined()
  const lifted = { lifted: { by: 'github|github.com|1', reason: 'mended' } }
  expect(peopleBy([haltObject({ type: 'Tenant', tenant: { name: 'acme' } }, { spec: lifted })]).ofTenant(tenant)).toBeUndefined()
})

function broker(object: Halt) {
  const cache = createObjectCache<Halt>()
  cache.replace([object])
  const state = { user: true, records: [] as object[], states: ['proved', 'finished', 'confirmed'], steps: [] as string[] }
  const store = {
    audit: { append: async (record: object) => void state.records.push(record) },
    oidc: { endAllOf: async () => 2 },
    sessions: { revokeAllOf: async () => 1 },
    users: {
      find: async () => (state.user ? {} : undefined),
      async remove() {
        state.user = false
      },
    },
  }
  const onboardings = {
    ofPerson: async () => state.states.map((of, id) => ({ id: String(id), state: of })),
    async move({ id }: { readonly id: string }, to: string) {
      state.steps.push(`${state.states[Number(id)]} ${to}`)
      state.states[Number(id)] = to
    },
  }
  const controller = createBrokerHaltController({ manager: { cache: () => cache }, store, onboardings } as never)
  const { namespace = '', name } = object.metadata
  const run = () => controller.reconcile({ key: { namespace, name } } as never)
  return { state, run }
}

test('sign-ins and onboardings of a halted person end once, in the name of who halted', async () => {
  const { state, run } = broker(haltObject(ofPerson))
  await run()
  await run()
  expect(state.records).toEqual([
    expect.objectContaining({
      action: 'session.ended',
      actor: 'github|github.localhost|1',
      reason: 'halted by a platform admin',
      details: { person: 'github|github.com|42', webSessions: 1, programs: 2 },
    }),
  ])
  expect(state.steps).toEqual(['proved abandoned', 'confirmed abandoned'])
})

test.each<[string, Halt]>([
  ['of a tenant', haltObject(ofPerson, { namespace: 'acme' })],
  ['that is lifted', haltObject(ofPerson, { spec: { lifted: { by: 'x', reason: 'over' } } })],
  ['that is a dry run', haltObject(ofPerson, { spec: { dryRun: true } })],
  ['of something else', haltObject({ type: 'Everything' })],
])('a Halt %s ends no sign-in', async (_what, object) => {
  const { state, run } = broker(object)
  await run()
  expect([state.user, state.records, state.steps]).toEqual([true, [], []])
})

test('the kind is the one that the controllers carry out', () => {
  expect(createBrokerHaltController({ manager: { cache: () => createObjectCache() } } as never).for).toBe(halt)
})

test('a dry run counts what would end of one person, and ends nothing', async () => {
  const asked: unknown[] = []
  const counting = {
    store: {
      sessions: {
        countOf: async (...person: unknown[]) => {
          asked.push(person)
          return 2
        },
      },
      oidc: {
        countOf: async (account: string) => {
          asked.push(account)
          return 1
        },
      },
    },
    onboardings: { ofPerson: async () => ['waiting-for-admin', 'finished', 'proved', 'refused'].map(state => ({ state })) },
  }
  const counts = await wouldEnd(counting as never, { host, userId: 42 })
  expect(counts).toEqual({ webSessions: 2, programs: 1, onboardings: 2 })
  expect(asked).toEqual([[host, 42], 'github|github.com|42'])
})
