import { expect, test } from 'vitest'
import type { KubeClient } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import { addFinalizer, removeFinalizer } from './finalizers.ts'

const finalizer = 'sekisho.dev/unit'
const held = thing('a', { finalizers: [finalizer, 'other.dev/x'] })

type Writer = Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>

/** A client of one kind that returns the given responses in order and records the requests. */
function writer(answers: readonly (Thing | Error | undefined)[]) {
  const left = [...answers]
  const requests: { verb: string; sent: object }[] = []
  const answer = async (verb: string, sent: object): Promise<never> => {
    requests.push({ verb, sent })
    const next = left.shift()
    if (next instanceof Error) throw next
    return next as never
  }
  const client: Writer = {
    get: (_type, key) => answer('get', key),
    apply: (_type, object, options) => answer('apply', { ...object, ...options }),
    mergePatch: (_type, _key, patch) => answer('mergePatch', patch),
  }
  return { client, requests }
}

const conflict = new KubeError('changed', { status: 409, reason: 'Conflict' })

test('an object that has the finalizer, or is being deleted, is not written', async () => {
  const { client, requests } = writer([])
  expect(await addFinalizer(client, things, held, finalizer)).toBe(held)
  const leaving = thing('a', { deletionTimestamp: '2026-01-01T00:00:00Z' })
  expect(await addFinalizer(client, things, leaving, finalizer)).toBeUndefined()
  await removeFinalizer(client, things, leaving, finalizer)
  expect(requests).toEqual([])
})

test('an apply contains the uid, its own finalizer and its own manager, and nothing else', async () => {
  const { client, requests } = writer([held, thing('a')])
  await addFinalizer(client, things, thing('a', { labels: { secret: 'no' } }, 'data'), finalizer)
  await removeFinalizer(client, things, held, finalizer)
  const { apiVersion, kind } = things
  const metadata = { name: 'a', namespace: 'ns', uid: 'uid-a' }
  const fieldManager = 'sekisho.dev/unit-finalizer'
  expect(requests).toEqual([
    { verb: 'apply', sent: { apiVersion, kind, metadata: { ...metadata, finalizers: [finalizer] }, fieldManager } },
    { verb: 'apply', sent: { apiVersion, kind, metadata, fieldManager } },
  ])
})

test('any other refusal is passed on', async () => {
  const forbidden = new KubeError('no', { status: 403, reason: 'Forbidden' })
  await expect(addFinalizer(writer([forbidden]).client, things, thing('a'), finalizer)).rejects.toBe(forbidden)
  await expect(removeFinalizer(writer([forbidden]).client, things, held, finalizer)).rejects.toBe(forbidden)
  const invalid = new KubeError('bad name', { status: 422, reason: 'Invalid', fields: ['metadata.finalizers'] })
  await expect(addFinalizer(writer([invalid, thing('a')]).client, things, thing('a'), finalizer)).rejects.toBe(invalid)
})

test('a finalizer that another manager owns, too, is removed by a guarded patch; a conflict is left to the next reconcile', async () => {
  const { client, requests } = writer([held, thing('a')])
  await removeFinalizer(client, things, held, finalizer)
  expect(requests.map(({ verb }) => verb)).toEqual(['apply', 'mergePatch'])
  expect(requests[1]?.sent).toEqual({ metadata: { uid: 'uid-a', resourceVersion: '1', finalizers: ['other.dev/x'] } })
  await expect(removeFinalizer(writer([held, conflict]).client, things, held, finalizer)).rejects.toBe(conflict)
})

test('another object of the same name is not changed', async () => {
  const namesake = thing('a', { uid: 'another', finalizers: [finalizer] })
  const { client, requests } = writer([namesake])
  await removeFinalizer(client, things, held, finalizer)
  expect(requests.map(({ verb }) => verb)).toEqual(['apply'])
})
