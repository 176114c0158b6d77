// Who an Application says changed it: never anybody who did not, whatever is written in whatever order, with and without the
// webhook.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedByOf, changeRun, generationOf, maxUserName } from '../../api/apps/application/changed-by.ts'
import { changedByAnnotation } from '../../api/names.ts'
import { defined } from '../../lib/json/defined.ts'
import { type JsonObject, objectAt } from '../../lib/json/json-value.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { platformIdentities } from '../identities.ts'
import type { AdmissionRequest } from '../review.ts'
import { changedBy } from '../rules/apps/changed-by.ts'
import { type Operation, recordChange } from './record-change.ts'

const request = (overrides: Partial<AdmissionRequest>): AdmissionRequest => ({
  uid: 'u',
  operation: 'UPDATE',
  group: 'apps.sekisho.dev',
  resource: 'applications',
  subResource: undefined,
  namespace: 'acme',
  username: 'mia',
  login: undefined,
  object: undefined,
  oldObject: undefined,
  ...overrides,
})

/** An Application; `text` undefined: without the annotation. */
function application(env: number, generation?: number, text?: string): JsonObject {
  const annotations = text === undefined ? {} : { annotations: { [changedByAnnotation]: text } }
  return { metadata: { name: 'shop', ...defined({ generation }), ...annotations }, spec: { env } }
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
  const recorded = (object: JsonObject, oldObject?: JsonObject, username = 'mia', login?: string): unknown => {
    const operation = oldObject ? 'UPDATE' : 'CREATE'
    return textOf(patched(object, recordChange(request({ object, oldObject, username, login, operation }))))
  }

  test('names who creates and who changes, and from which generation on nobody else did', () => {
    expect(recorded(application(1))).toBe('1-1 mia')
    expect(recorded(application(1, undefined, '7-7 dave'))).toBe('1-1 mia')
    expect(recorded(application(2, 1, '1-1 dave'), application(1, 1, '1-1 dave'))).toBe('2-2 mia')
    expect(recorded(application(3, 2, '1-2 mia'), application(2, 2, '1-2 mia'))).toBe('1-3 mia')
    // Something changed the spec at generation 3 that is not recorded.
    expect(recorded(application(3, 3, '1-2 mia'), application(2, 3, '1-2 mia'))).toBe('4-4 mia')
  })

  test('has the login beside the name, where it is one', () => {
    expect(recorded(application(1), undefined, 'github|github.com|7', 'mia-x_corp')).toBe('1-1@mia-x_corp github|github.com|7')
    expect(recorded(application(3, 2, '1-2@mia 7'), application(2, 2, '1-2@mia 7'), '7', 'mia')).toBe('1-3@mia 7')
    // Another login of the same person, and another person with the login: both begin anew.
    expect(recorded(application(3, 2, '1-2@mia 7'), application(2, 2, '1-2@mia 7'), '7', 'maria')).toBe('3-3@maria 7')
    expect(recorded(application(3, 2, '1-2@mia 7'), application(2, 2, '1-2@mia 7'), '8', 'mia')).toBe('3-3@mia 8')
    for (const login of ['', 'mia dave', 'mia\n', 'x'.repeat(101)])
      expect(recorded(application(1), undefined, '7', login)).toBe('1-1 7')
    expect(changeRun('1-3@mia 7')).toEqual({ first: 1, last: 3, user: '7', login: 'mia' })
    expect(changeRun('1-3 @mia 7')).toEqual({ first: 1, last: 3, user: '@mia 7', login: undefined })
    expect(changeRun('1-3@m!a 7')).toBeUndefined()
  })

  test('stays, or comes back, when the spec does not change', () => {
    const before = application(1, 1, '1-1 dave')
    expect(recorded({ ...before, status: { a: 1 } }, before)).toBe('1-1 dave')
    expect(recorded(application(1, 1), before)).toBe('1-1 dave')
    expect(recorded(application(1, 1, '1-1 mia'), before)).toBe('1-1 dave')
    expect(recorded(application(1, 1, '1-1 mia'), application(1, 1))).toBeUndefined()
  })

  test('is nobody for a name that is too long, and is not written on other objects', () => {
    const long = 'x'.repeat(maxUserName + 1)
    expect(recorded(application(2, 1, '1-1 dave'), application(1, 1, '1-1 dave'), long)).toBeUndefined()
    expect(recorded(application(1), undefined, 'x'.repeat(maxUserName))).toBe(`1-1 ${long.slice(1)}`)
    const object = application(1)
    for (const other of [{ resource: 'remotesyncs' }, { subResource: 'scale' }, { subResource: 'status' }])
      expect(recordChange(request({ operation: 'CREATE', object, ...other }))).toEqual([])
  })
})

/** Names that look like parts of the value. */
const users = ['mia', 'dave', '6 dave', 'x-6 dave', '1-1 mia', '@mia dave', '']
const logins = [undefined, 'mia', 'dave', '6', '1-1', 'mia dave', '']
const user = fc.constantFrom(...users)
const text = fc.oneof(
  fc.constant(undefined),
  fc
    .tuple(fc.nat(6), fc.nat(6), fc.constantFrom('', ...logins.map(login => `@${login}`)), user)
    .map(([first, last, login, name]) => `${first}-${last}${login} ${name}`),
)
const step = fc.record({
  user: user.filter(name => name !== ''),
  login: fc.constantFrom(...logins),
  env: fc.nat(2),
  webhook: fc.boolean(),
  /** What is sent as the annotation: `keep` as it is, `present` and `next` with one's own name and that generation. */
  sent: fc.oneof(fc.constantFrom('keep' as const, 'present' as const, 'next' as const), text),
  /** `kubectl scale`: only the spec changes, and nobody judges it. */
  isScale: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/**
 * As the API server does it: mutating admission, the generation, validating admission. The object afterwards, or the same when
 * it is refused.
 */
function written(
  before: JsonObject,
  { user: username, login, env, webhook, sent, isScale }: Step,
  generation: number,
): JsonObject {
  const present = textOf(before)
  if (isScale) return application(env, env === objectAt(before, 'spec')?.['env'] ? generation : generation + 1, present)
  const shown = login === undefined || !/^[a-z0-9-]+$/.test(login) ? '' : `@${login}`
  const own = (number: number): string => `${number}-${number}${shown} ${username}`
  const known: Readonly<Record<string, string | undefined>> = {
    keep: present,
    present: own(generation),
    next: own(generation + 1),
  }
  const asked = application(env, generation, sent !== undefined && Object.hasOwn(known, sent) ? known[sent] : sent)
  const object = webhook ? patched(asked, recordChange(request({ object: asked, oldObject: before, username, login }))) : asked
  const isChanged = !sameJson(object['spec'], before['spec'])
  const stored = { ...object, metadata: { ...objectAt(object, 'metadata'), generation: generation + (isChanged ? 1 : 0) } }
  const refusal = changedBy.check(request({ object: stored, oldObject: before, username, login }), platformIdentities)
  // With the webhook nothing is refused.
  if (webhook) expect(refusal).toBeUndefined()
  return refusal === undefined ? stored : before
}

test('property: whoever is named made every one of the generations, whatever others write', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      let object = application(0, 1)
      /** Who made generation n, at n, with which login. */
      const makers: (string | undefined)[] = [undefined, undefined]
      const maker = (name: string, login: string | undefined): string =>
        `${login !== undefined && /^[a-z0-9-]+$/.test(login) ? login : ''} ${name}`
      for (const one of steps) {
        const generation = makers.length - 1
        object = written(object, one, generation)
        if (generationOf(object) === generation + 1) makers.push(one.isScale ? undefined : maker(one.user, one.login))
        const run = changeRun(changedByOf(object))
        if (run === undefined) continue
        expect(run.last).toBeLessThan(makers.length)
        expect(new Set(makers.slice(run.first, run.last + 1))).toEqual(new Set([maker(run.user, run.login)]))
      }
    }),
    { numRuns: 2000 },
  )
})
