import { expect, test } from 'vitest'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { Applied, KubeClient } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import { thing } from '../testing/objects.ts'
import { createEventRecorder } from './events.ts'

function recorderOf(answer: () => Promise<unknown> = async () => undefined) {
  const clock = createFakeClock()
  const sent: Applied[] = []
  const apply: KubeClient['apply'] = async (_type, object) => {
    sent.push(object)
    return (await answer()) as never
  }
  const create: KubeClient['create'] = (type, object, options) => apply(type, object as Applied, options)
  const recorder = createEventRecorder({ client: { create, apply }, clock, log: silentLog, component: 'sekisho-unit' })
  return { recorder, clock, sent }
}

const news = { type: 'Warning', reason: 'Failed', message: 'no' } as const

test('equal Events become one with a growing count and time; others are separate', async () => {
  const { recorder, clock, sent } = recorderOf()
  recorder.record(thing('a'), news)
  await recorder.flush()
  await clock.advance(5000)
  recorder.record(thing('a'), news)
  recorder.record(thing('a'), { ...news, message: 'other' })
  recorder.record(thing('b'), news)
  await recorder.flush()
  expect(sent.map(event => [event.metadata.name === sent[0]?.metadata.name, event['count']])).toEqual([
    [true, 1],
    [true, 2],
    [false, 1],
    [false, 1],
  ])
  expect(sent[1]).toMatchObject({ firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:05Z' })
})

test('names are valid for any object name, and Events about cluster-wide objects are in the default namespace', async () => {
  const { recorder, sent } = recorderOf()
  const { namespace: _, ...metadata } = thing('system:Node--').metadata
  recorder.record({ ...thing('x'), metadata }, news)
  recorder.record(thing('a'.repeat(253)), news)
  await recorder.flush()
  expect(sent[0]?.metadata.namespace).toBe('default')
  for (const event of sent) expect(event.metadata.name).toMatch(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/)
})

test('tokens are redacted and long texts are cut', async () => {
  const { recorder, sent } = recorderOf()
  recorder.record(thing('a'), { ...news, message: `ghs_${'x'.repeat(36)} ${'y'.repeat(5000)}` })
  await recorder.flush()
  expect(sent[0]?.['message']).toMatch(/^\[redacted\] y{1013}$/)
})

test('the rate per object is limited, without effect on other objects', async () => {
  const { recorder, clock, sent } = recorderOf()
  for (let index = 0; index < 100; index++) recorder.record(thing('loud'), { ...news, message: String(index) })
  recorder.record(thing('quiet'), news)
  await recorder.flush()
  expect(sent.filter(event => JSON.stringify(event['involvedObject']).includes('loud'))).toHaveLength(25)
  expect(sent).toHaveLength(26)
  await clock.advance(300_000)
  recorder.record(thing('loud'), { ...news, message: 'later' })
  await recorder.flush()
  expect(sent).toHaveLength(27)
})

test('a server that refuses or hangs causes no exception and no unbounded queue', async () => {
  const refused = recorderOf(async () => {
    throw new KubeError('no', { status: 403, reason: 'Forbidden' })
  })
  refused.recorder.record(thing('a'), news)
  refused.recorder.record(thing('b'), news)
  await refused.recorder.flush()
  expect(refused.sent).toHaveLength(2)
  const response = Promise.withResolvers<unknown>()
  const hanging = recorderOf(() => response.promise)
  for (let index = 0; index < 2000; index++) hanging.recorder.record(thing(`o-${index}`), news)
  await settle()
  response.resolve(undefined)
  await hanging.recorder.flush()
  expect(hanging.sent).toHaveLength(1001)
})

test('an Event is created once; what exists under its name is counted on, also when a process before this one made it', async () => {
  const verbs: string[] = []
  const stored = new Set<string>()
  const client = {
    async create(_type: unknown, { metadata: { name = '' } }: { readonly metadata: { readonly name?: string } }) {
      verbs.push('create')
      if (stored.has(name)) throw new KubeError('it exists', { status: 409, reason: 'AlreadyExists' })
      stored.add(name)
    },
    async apply(_type: unknown, { count }: Applied) {
      verbs.push(`apply ${count}`)
    },
  } as unknown as Pick<KubeClient, 'create' | 'apply'>
  const start = () => createEventRecorder({ client, clock: createFakeClock(), log: silentLog, component: 'sekisho-unit' })
  const [first, next] = [start(), start()]
  for (const recorder of [first, first, next]) {
    recorder.record(thing('a'), news)
    await recorder.flush()
  }
  expect(verbs).toEqual(['create', 'apply 2', 'create', 'apply 1'])
})
