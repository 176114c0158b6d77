import { expect, test } from 'vitest'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { loginName } from '../adapters/postgresql/identifiers.ts'
import type { Snapshot } from '../looks/snapshot.ts'
import { isDue } from '../slots/slots.ts'
import { decide, drainingOf, hasLostLogin, liveIn, restMilliseconds, successorFrom } from './decide.ts'
import { heldAnnotation } from './desired.ts'
import type { Facts } from './gather.ts'

const now = new Date('2026-01-01T00:00:00Z')
const at = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000)
const minute = 60_000

test('it looks again when the next thing is due, and after ten minutes at the latest: the Secret is not watched', () => {
  expect(restMilliseconds(at(3), now)).toBe(3 * minute)
  expect(restMilliseconds(at(-3), now)).toBe(0)
  expect(restMilliseconds(at(30 * 24 * 60), now)).toBe(10 * minute)
  expect(restMilliseconds(undefined, now)).toBe(10 * minute)
})

/** Slot a drains and b is delivered; the Secret holds `held`. */
function drained(held: 'a' | 'b') {
  const { apiVersion, kind } = serviceBinding
  const issuedAt = at(-90).toISOString()
  const slots = [
    { slot: 'a', state: 'Draining', issuedAt, until: at(-1).toISOString() },
    { slot: 'b', state: 'Delivered', issuedAt },
  ]
  const binding = {
    apiVersion,
    kind,
    metadata: { namespace: 'n', name: 'b', uid: 'u' },
    spec: { service: { kind: 'ServiceInstance', name: 'db' } },
    status: { slots },
  }
  const owner = binding as unknown as Facts['binding']
  const secret = {
    metadata: {
      annotations: { [heldAnnotation]: JSON.stringify({ slot: held, issuedAt }) },
      ownerReferences: [ownerReference(owner, { controller: true })],
    },
    data: { password: 'cA==' },
  } as unknown as Facts['secret']
  return drainingOf({
    binding: owner,
    secret,
    service: undefined,
    id: undefined,
    serviceClass: undefined,
    opened: undefined,
    seen: undefined,
  })
}

test('what drains can end when it is due, but never what the Secret holds', () => {
  expect(drained('b').map(({ slot }) => slot)).toEqual(['a'])
  expect(drained('a')).toEqual([])
  const [slot] = drained('b')
  expect(slot && [isDue(slot, now), isDue(slot, at(-2))]).toEqual([true, false])
})

/** Of a look that found these logins, after which `changed` was changed. */
function seenWith(logins: readonly string[], changed: string): Snapshot {
  const mayLogIn = (login: string) => (login === changed ? undefined : logins.includes(login))
  return { server: {} as never, database: () => undefined, mayLogIn, restMilliseconds: 1 }
}

test('a look says which logins live, unless one of the two was changed since; a lost one is the one that was delivered', () => {
  const spec = { service: { kind: 'ServiceInstance', name: 'db' } }
  const [a, b] = [loginName('u', 'a'), loginName('u', 'b')]
  const binding = { metadata: { uid: 'u' }, spec, status: { principal: a } } as unknown as Facts['binding']
  expect(liveIn(seenWith([a], ''), binding)).toEqual(new Set(['a']))
  expect(liveIn(seenWith([], ''), binding)).toEqual(new Set())
  expect(liveIn(seenWith([a], b), binding)).toBeUndefined()
  expect(liveIn(undefined, binding)).toBeUndefined()
  const lost = [seenWith([a], ''), seenWith([b], ''), seenWith([b], a)].map(seen => hasLostLogin(seen, binding))
  expect(lost).toEqual([false, true, false])
  expect(hasLostLogin(seenWith([], ''), { ...binding, status: {} })).toBe(false)
})

test('a credential that was closed has its successor at once; one that is closed again within the hour, ten minutes later', () => {
  const ended = (minutes: number, cause?: 'LockTableFilled') => ({
    slot: 'a' as const,
    issuedAt: at(-99).toISOString(),
    endedAt: at(minutes).toISOString(),
    ...(cause && { cause }),
  })
  const closed = (minutes: number) => ended(minutes, 'LockTableFilled')
  expect(successorFrom(undefined)).toBeUndefined()
  expect(successorFrom([closed(-1)])).toBeUndefined()
  expect(successorFrom([closed(-1), ended(-2), closed(-60.9)])).toEqual(at(9))
  expect(successorFrom([closed(-1), closed(-61)])).toBeUndefined()
  expect(successorFrom([ended(-1), ended(-2)])).toBeUndefined()
})

/** A binding, with a credential of this version, of an instance that is not ready for this reason. */
function decided({
  version = undefined as number | undefined,
  reason = 'PlanNotFound',
  provisioned = 'True',
  opened = {} as object | null,
}) {
  const conditions = [
    { type: 'Provisioned', status: provisioned },
    { type: 'Ready', status: 'False', reason },
  ]
  const plans = [
    { name: 'large', limits: { connections: 40 } },
    { name: 'small', limits: { connections: 5 } },
  ]
  const facts = {
    binding: { metadata: { name: 'b' }, spec: { service: { kind: 'ServiceInstance', name: 'db' } }, status: { version } },
    service: { metadata: {}, spec: { class: 'c' }, status: { conditions, plan: 'gone' } },
    id: 's',
    serviceClass: { metadata: { name: 'c' }, spec: { plans, credentials: { maxAgeDays: 1, overlapMinutes: 5 } } },
    opened: opened ?? undefined,
  }
  return decide(facts as unknown as Facts)
}

test('what was delivered goes on being replaced, whatever its service asks for and cannot have', () => {
  const refused = { kind: 'refused', reason: 'InstanceNotReady' }
  for (const reason of ['PlanNotFound', 'ExtensionNotAllowed', 'ClassNotReady', 'ClassNotAllowed', 'RefusedByServer'])
    expect(decided({ version: 1, reason })).toMatchObject({ kind: 'ready', plan: { name: 'small' } })
  expect(decided({})).toMatchObject({ ...refused, message: 'ServiceInstance db is not ready: PlanNotFound' })
  expect(decided({ version: 1, reason: 'NoTenant' })).toMatchObject(refused)
  expect(decided({ version: 1, provisioned: 'False' })).toMatchObject(refused)
  expect(decided({ version: 1, opened: null })).toMatchObject(refused)
})
