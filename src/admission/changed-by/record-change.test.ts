// Who an Application says changed it: never anybody who did not, whatever is written in whatever order, with and without the webhook.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedByOf, changeRun, generationOf, longestUserName } from '../../api/apps/application/changed-by.ts'
import { changedByAnnotation } from '../../api/names.ts'
import { type JsonObject, objectAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { platformIdentities } from '../identities.ts'
import type { AdmissionRequest } from '../review.ts'
import { changedBy } from '../rules/apps/changed-by.ts'
import { type Operation, recordChange } from './record-change.ts'

const identities = platformIdentities('production')
const request = (overrides: Partial<AdmissionRequest>): AdmissionRequest => ({
  uid: 'u',
  operation: 'UPDATE',
  group: 'apps.sekisho.dev',
  resource: 'applications',
  subResource: undefined,
  namespace: 'acme',
  username: 'mia',
  object: undefined,
  oldObject: undefined,
  ...overrides,
})

/** An Application; `text` undefined: without the annotation. */
function application(env: number, generation?: number, text?: string): JsonObject {
  const annotations = text === undefined ? {} : { annotations: { [changedByAnnotation]: text } }
  return { metadata: { name: 'shop', ...(generation === undefined ? {} : { generation }), ...annotations }, spec: { env } }
}

function patched(object: JsonObject, operations: readonly Operation[]): JsonObject {
  const annotations = new Map(Object.entries(objectAt(object, 'metadata', 'annotations') ?? {}))
  for (const operation of operations) {
    if (operation.op === 'remove') annotations.delete(changedByAnnotation)
    else if (typeof operation.value === 'string') annotations.set(changedByAnnotation, operation.value)
  }
  return { ...object, metadata: { ...objectAt(object, 'metadata'), annotations: Object.fromEntries(annotations) } }
}

const textOf = (object: JsonObject): string | undefined => changedByOf(object) || undefined

describe('the annotation', () => {
  const recorded = (object: JsonObject, oldObject?: JsonObject, username = 'mia'): unknown =>
    textOf(patched(object, recordChange(request({ object, oldObject, username, operation: oldObject ? 'UPDATE' : 'CREATE' }))))

  test('names who creates and who changes, and from which generation on nobody else did', () => {
    expect(recorded(application(1))).toBe('1-1 mia')
    expect(recorded(application(1, undefined, '7-7 dave'))).toBe('1-1 mia')
    expect(recorded(application(2, 1, '1-1 dave'), application(1, 1, '1-1 dave'))).toBe('2-2 mia')
    expect(recorded(application(3, 2, '1-2 mia'), application(2, 2, '1-2 mia'))).toBe('1-3 mia')
    // Something changed the spec at generation 3 that is not recorded.
    expect(recorded(application(3, 3, '1-2 mia'), application(2, 3, '1-2 mia'))).toBe('4-4 mia')
  })

  test('stays, or comes back, when the spec does not change', () => {
    const before = application(1, 1, '1-1 dave')
    expect(recorded({ ...before, status: { a: 1 } }, before)).toBe('1-1 dave')
    expect(recorded(application(1, 1), before)).toBe('1-1 dave')
    expect(recorded(application(1, 1, '1-1 mia'), before)).toBe('1-1 dave')
    expect(recorded(application(1, 1, '1-1 mia'), application(1, 1))).toBeUndefined()
  })

  test('is nobody for a name that is too long, and is not written on other objects', () => {
    const long = 'x'.repeat(longestUserName + 1)
    expect(recorded(application(2, 1, '1-1 dave'), application(1, 1, '1-1 dave'), long)).toBeUndefined()
    expect(recorded(application(1), undefined, 'x'.repeat(longestUserName))).toBe(`1-1 ${long.slice(1)}`)
    const object = application(1)
    for (const other of [{ resource: 'remotesyncs' }, { subResource: 'scale' }, { subResource: 'status' }])
      expect(recordChange(request({ operation: 'CREATE', object, ...other }))).toEqual([])
  })
})

/** Names that look like parts of the value. */
const users = ['mia', 'dave', '6 dave', 'x-6 dave', '1-1 mia', '']
const user = fc.constantFrom(...users)
const text = fc.oneof(
  fc.constant(undefined),
  fc.tuple(fc.nat(6), fc.nat(6), user).map(([first, last, name]) => `${first}-${last} ${name}`),
)
const step = fc.record({
  user: user.filter(name => name !== ''),
  env: fc.nat(2),
  webhook: fc.boolean(),
  /** What is sent as the annotation: `keep` as it is, `present` and `next` with one's own name and that generation. */
  sent: fc.oneof(fc.constantFrom('keep' as const, 'present' as const, 'next' as const), text),
  /** `kubectl scale`: only the spec changes, and nobody judges it. */
  isScale: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** As the API server does it: mutating admission, the generation, validating admission. The object afterwards, or the same when it is refused. */
function written(before: JsonObject, { user: username, env, webhook, sent, isScale }: Step, generation: number): JsonObject {
  const present = textOf(before)
  if (isScale) return application(env, env === objectAt(before, 'spec')?.['env'] ? generation : generation + 1, present)
  const own = (number: number): string => `${number}-${number} ${username}`
  const known: Readonly<Record<string, string | undefined>> = {
    keep: present,
    present: own(generation),
    next: own(generation + 1),
  }
  const asked = application(env, generation, sent !== undefined && Object.hasOwn(known, sent) ? known[sent] : sent)
  const object = webhook ? patched(asked, recordChange(request({ object: asked, oldObject: before, username }))) : asked
  const isChanged = !sameJson(object['spec'], before['spec'])
  const stored = { ...object, metadata: { ...objectAt(object, 'metadata'), generation: generation + (isChanged ? 1 : 0) } }
  const refusal = changedBy.check(request({ object: stored, oldObject: before, username }), identities)
  // With the webhook nothing is refused.
  if (webhook) expect(refusal).toBeUndefined()
  return refusal === undefined ? stored : before
}

test('property: whoever is named made every one of the generations, whatever others write', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      let object = application(0, 1)
      /** Who made generation n, at n. */
      const makers: (string | undefined)[] = [undefined, undefined]
      for (const one of steps) {
        const generation = makers.length - 1
        object = written(object, one, generation)
        if (generationOf(object) === generation + 1) makers.push(one.isScale ? undefined : one.user)
        const run = changeRun(changedByOf(object))
        if (run === undefined) continue
        expect(run.last).toBeLessThan(makers.length)
        expect(new Set(makers.slice(run.first, run.last + 1))).toEqual(new Set([run.user]))
      }
    }),
    { numRuns: 2000 },
  )
})
