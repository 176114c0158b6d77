import { expect, test } from 'vitest'
import type { KindDefinition } from '../../api/kind.ts'
import type { Condition, KubeObject, ResourceType } from '../../api/resource.ts'
import type { ObjectEvent } from '../../kube/object/events.ts'
import { defined } from '../../lib/json/defined.ts'
import { createStatusWriter, type StatusWriter } from './status-writer.ts'

type Reporting = KubeObject & { readonly status?: { readonly conditions?: Condition[]; readonly seen?: number } }

/** A reason of each class, named as it. */
const classes = ['ready', 'progress', 'machine', 'person', 'failed', 'intended'] as const
const type: ResourceType<Reporting> & Pick<KindDefinition, 'reasons'> = {
  apiVersion: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
  reasons: new Map(classes.map(name => [name, { class: name, says: '' }])),
}

function thing(resourceVersion: string, status?: Reporting['status'], uid = 'u'): Reporting {
  const metadata = { name: `thing-${uid}`, namespace: 'a', uid, resourceVersion }
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...defined({ status }) }
}

function ready(status: 'True' | 'False', reason: string, message = 'm'): { conditions: Condition[] } {
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }
  return { conditions: [{ type: 'Ready', status, reason, message, ...times }] }
}

type Fixture = {
  readonly writer: StatusWriter<Reporting>
  readonly sent: unknown[]
  readonly recorded: ObjectEvent[]
  /** What the cache shows, by name. */
  readonly cached: Map<string, Reporting>
}

type Options = { readonly includesMessage?: boolean; readonly gone?: boolean; readonly eventsOn?: readonly string[] }

/** A server that accepts every status and counts versions from 10. */
function fixture(options: Options = {}): Fixture {
  const sent: unknown[] = []
  const recorded: ObjectEvent[] = []
  const cached = new Map<string, Reporting>()
  let version = 10
  const writer = createStatusWriter<NonNullable<Reporting['status']>, Reporting>({
    type,
    fieldManager: 'tests',
    client: {
      applyStatus: async (_type, object) => {
        sent.push(object)
        version += 1
        const { metadata, status } = object as unknown as Reporting
        // The server answers an object of the resource type.
        return (options.gone ? undefined : thing(String(version), status, metadata.uid)) as never
      },
    },
    cache: { get: key => cached.get(key.name) },
    events: { record: (_object, news) => recorded.push(news) },
    includesMessage: options.includesMessage ?? false,
    ...defined({ eventsOn: options.eventsOn }),
  })
  return { writer, sent, recorded, cached }
}

test('an unchanged status is neither sent nor recorded as an Event', async () => {
  const { writer, sent, recorded } = fixture()
  const object = thing('1', { ...ready('True', 'Fine'), seen: 1 })
  expect(await writer.write(object, { seen: 1, ...ready('True', 'Fine') })).toBe(object)
  expect([sent, recorded]).toEqual([[], []])
})

test('what several conditions say alike is one Event, and what they say differently is one each', async () => {
  const { writer, recorded } = fixture({ eventsOn: ['Other', 'Ready'] })
  const both = (other: string, own: string) => {
    const { conditions } = ready('False', own)
    return { conditions: [...ready('False', other).conditions.map(one => ({ ...one, type: 'Other' })), ...conditions] }
  }
  await writer.write(thing('1'), both('progress', 'progress'))
  await writer.write(thing('2'), both('progress', 'machine'))
  expect(recorded.map(({ reason }) => reason)).toEqual(['progress', 'progress', 'machine'])
})

test('writes by uid, so that a new object of the same name is not changed', async () => {
  const { writer, sent } = fixture()
  await writer.write(thing('1'), { seen: 1 })
  expect(sent).toEqual([
    { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing-u', namespace: 'a', uid: 'u' }, status: { seen: 1 } },
  ])
})

test('its own write wins while the cache is behind, and no longer once the cache has caught up', async () => {
  const { writer } = fixture()
  await writer.write(thing('9'), { seen: 1 })
  expect(writer.latest(thing('9'))).toEqual(thing('11', { seen: 1 }))
  expect(writer.latest(thing('12'))).toEqual(thing('12'))
  expect(writer.latest(thing('9'))).toEqual(thing('9'))
})

test('an object with another uid, or with a version that is not a number, is taken from the cache', async () => {
  const { writer } = fixture()
  await writer.write(thing('9'), { seen: 1 })
  expect(writer.latest(thing('9', undefined, 'other'))).toEqual(thing('9', undefined, 'other'))
  expect(writer.latest(thing('x'))).toEqual(thing('x'))
})

test('later writes drop the entries that the cache shows or no longer has', async () => {
  const { writer, cached } = fixture()
  cached.set('thing-shown', thing('11', { seen: 1 }, 'shown'))
  await writer.write(thing('1', undefined, 'shown'), { seen: 1 })
  await writer.write(thing('1', undefined, 'gone'), { seen: 1 })
  cached.set('thing-behind', thing('1', undefined, 'behind'))
  await writer.write(thing('1', undefined, 'behind'), { seen: 1 })
  await writer.write(thing('1', undefined, 'last'), { seen: 1 })
  // Older than what was written, yet taken as cached: their entries were dropped.
  for (const uid of ['shown', 'gone']) expect(writer.latest(thing('2', undefined, uid))).toEqual(thing('2', undefined, uid))
  expect(writer.latest(thing('2', undefined, 'behind')).status).toEqual({ seen: 1 })
})

test('a deleted object is not an error, and no entry is kept for it', async () => {
  const { writer } = fixture({ gone: true })
  expect((await writer.write(thing('9'), { seen: 1 })).status).toEqual({ seen: 1 })
  expect(writer.latest(thing('9'))).toEqual(thing('9'))
})

test.each([
  ['Ready becomes True', ready('True', 'Fine'), ['Normal']],
  ['Ready becomes False', ready('False', 'Broken'), ['Warning']],
  ['a stage of progress', ready('False', 'progress'), ['Normal']],
  ['a wait for a machine', ready('False', 'machine'), ['Warning']],
  ['a wait for a person', ready('False', 'person'), ['Warning']],
  ['a failure', ready('False', 'failed'), ['Warning']],
  ['what somebody wants', ready('False', 'intended'), ['Normal']],
  ['only the message changes', ready('False', 'Before', 'other words'), []],
  ['no Ready condition', { seen: 1 }, []],
])('Events: %s', async (_case, status, types) => {
  const { writer, recorded } = fixture()
  await writer.write(thing('1', ready('False', 'Before')), status)
  expect(recorded.map(news => news.type)).toEqual(types)
})

test('a controller can record an Event for each changed message', async () => {
  const { writer, recorded } = fixture({ includesMessage: true })
  await writer.write(thing('1', ready('False', 'Before')), ready('False', 'Before', 'other words'))
  expect(recorded).toEqual([{ type: 'Warning', reason: 'Before', message: 'other words' }])
})

test('a message is cut to what the schema takes: a longer one would keep the whole status from being written', async () => {
  const { writer, sent } = fixture()
  await writer.write(thing('1'), ready('False', 'Failed', 'x'.repeat(5000)))
  expect(sent).toMatchObject([{ status: { conditions: [{ message: `${'x'.repeat(4095)}…` }] } }])
})

test('a text that was cut inside of a character is sent once: the server stores the replacement for the half of it', async () => {
  const { writer, sent } = fixture()
  const cut = `log: ${'🚀'.slice(0, 1)}`
  const stored = thing('1', ready('False', 'Failed', 'log: \ufffd'))
  expect(await writer.write(stored, ready('False', 'Failed', cut))).toBe(stored)
  expect(sent).toEqual([])
  await writer.write(thing('1'), ready('False', 'Failed', cut))
  expect(sent).toMatchObject([{ status: { conditions: [{ message: 'log: \ufffd' }] } }])
})
