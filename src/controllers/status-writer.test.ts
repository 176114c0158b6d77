import { expect, test } from 'vitest'
import type { Condition, KubeObject, ResourceType } from '../api/resource.ts'
import type { ObjectEvent } from '../kube/object/events.ts'
import { createStatusWriter, type StatusWriter } from './status-writer.ts'

type Reporting = KubeObject & { readonly status?: { readonly conditions?: Condition[]; readonly seen?: number } }

const type: ResourceType<Reporting> = { apiVersion: 'v1', kind: 'Thing', plural: 'things', namespaced: true }

function thing(resourceVersion: string, status?: Reporting['status'], uid = 'u'): Reporting {
  const metadata = { name: `thing-${uid}`, namespace: 'a', uid, resourceVersion }
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...(status === undefined ? {} : { status }) }
}

function ready(status: 'True' | 'False', reason: string, message = 'm'): { conditions: Condition[] } {
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }
  return { conditions: [{ type: 'Ready', status, reason, message, ...times }] }
}

type Site = {
  readonly writer: StatusWriter<Reporting>
  readonly sent: unknown[]
  readonly told: ObjectEvent[]
  /** What the cache shows, by name. */
  readonly cached: Map<string, Reporting>
}

/** A server that takes every status and counts versions from 10. */
function site(options: { readonly tellsMessages?: boolean; readonly gone?: boolean } = {}): Site {
  const sent: unknown[] = []
  const told: ObjectEvent[] = []
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
        // The server answers what the resource type says.
        return (options.gone ? undefined : thing(String(version), status, metadata.uid)) as never
      },
    },
    cache: { get: key => cached.get(key.name) },
    events: { record: (_object, news) => told.push(news) },
    onTheWay: ['Waiting'],
    tellsMessages: options.tellsMessages ?? false,
  })
  return { writer, sent, told, cached }
}

test('a status that says nothing new is not sent and tells nobody', async () => {
  const { writer, sent, told } = site()
  const object = thing('1', { ...ready('True', 'Fine'), seen: 1 })
  expect(await writer.write(object, { seen: 1, ...ready('True', 'Fine') })).toBe(object)
  expect([sent, told]).toEqual([[], []])
})

test('it writes by uid, so that a namesake made meanwhile gets nothing', async () => {
  const { writer, sent } = site()
  await writer.write(thing('1'), { seen: 1 })
  expect(sent).toEqual([
    { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'thing-u', namespace: 'a', uid: 'u' }, status: { seen: 1 } },
  ])
})

test('our write counts while the cache is behind, and no longer once it has caught up', async () => {
  const { writer } = site()
  await writer.write(thing('9'), { seen: 1 })
  expect(writer.latest(thing('9'))).toEqual(thing('11', { seen: 1 }))
  expect(writer.latest(thing('12'))).toEqual(thing('12'))
  expect(writer.latest(thing('9'))).toEqual(thing('9'))
})

test('an object of another uid, or with a version that is no number, is taken as cached', async () => {
  const { writer } = site()
  await writer.write(thing('9'), { seen: 1 })
  expect(writer.latest(thing('9', undefined, 'other'))).toEqual(thing('9', undefined, 'other'))
  expect(writer.latest(thing('x'))).toEqual(thing('x'))
})

test('what the cache shows, or no longer has, is forgotten by later writes', async () => {
  const { writer, cached } = site()
  cached.set('thing-shown', thing('11', { seen: 1 }, 'shown'))
  await writer.write(thing('1', undefined, 'shown'), { seen: 1 })
  await writer.write(thing('1', undefined, 'gone'), { seen: 1 })
  cached.set('thing-behind', thing('1', undefined, 'behind'))
  await writer.write(thing('1', undefined, 'behind'), { seen: 1 })
  await writer.write(thing('1', undefined, 'last'), { seen: 1 })
  // Older than what was written, yet taken as it is: nothing of ours is kept for them.
  for (const uid of ['shown', 'gone']) expect(writer.latest(thing('2', undefined, uid))).toEqual(thing('2', undefined, uid))
  expect(writer.latest(thing('2', undefined, 'behind')).status).toEqual({ seen: 1 })
})

test('an object that is gone is no error, and nothing is kept of it', async () => {
  const { writer } = site({ gone: true })
  expect((await writer.write(thing('9'), { seen: 1 })).status).toEqual({ seen: 1 })
  expect(writer.latest(thing('9'))).toEqual(thing('9'))
})

test.each([
  ['Ready becomes True', ready('True', 'Fine'), ['Normal']],
  ['Ready becomes False', ready('False', 'Broken'), ['Warning']],
  ['a stage on the way', ready('False', 'Waiting'), ['Normal']],
  ['only the message changes', ready('False', 'Before', 'other words'), []],
  ['no Ready at all', { seen: 1 }, []],
])('Events: %s', async (_case, status, types) => {
  const { writer, told } = site()
  await writer.write(thing('1', ready('False', 'Before')), status)
  expect(told.map(news => news.type)).toEqual(types)
})

test('a controller may tell each message', async () => {
  const { writer, told } = site({ tellsMessages: true })
  await writer.write(thing('1', ready('False', 'Before')), ready('False', 'Before', 'other words'))
  expect(told).toEqual([{ type: 'Warning', reason: 'Before', message: 'other words' }])
})
