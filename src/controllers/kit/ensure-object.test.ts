import { expect, test } from 'vitest'
import { noVersion, type ResourceType } from '../../api/resource.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { type Thing, thing } from '../../kube/testing/objects.ts'
import { type EnsureOptions, ensureObject } from './ensure-object.ts'

const wanted = { apiVersion: 'v1', kind: 'Thing', metadata: { namespace: 'ns', name: 'a' } }
const error = (status: number, message: string) => new KubeError(message, { status, reason: 'x' })
const present = thing('a', { uid: 'one' })

/** The client of a server that holds `live` and answers each apply with the next error, or not at all with one. */
function setUp(
  more: Partial<EnsureOptions<Thing>> & { readonly live?: Thing; readonly answers?: readonly (KubeError | undefined)[] },
) {
  const { live, answers = [], ...options } = more
  const requests: string[] = []
  const left = [...answers]
  const client = {
    async get() {
      requests.push('get')
      return live
    },
    async apply(_type: unknown, { metadata }: typeof wanted & { metadata: { uid?: string; resourceVersion?: string } }) {
      requests.push(metadata.resourceVersion === noVersion ? 'create' : `change ${metadata.uid}`)
      const answer = left.shift()
      if (answer !== undefined) throw answer
      return present
    },
  }
  const base = {
    type: {} as ResourceType<Thing>,
    fieldManager: 'test',
    cached: undefined,
    isOurs: () => true,
    needsApply: () => true,
  }
  const ensured = ensureObject({ ...base, client: client as never, ...options }, wanted)
  return { ensured, requests }
}

test('what the cache does not have is created with one request', async () => {
  const { ensured, requests } = setUp({})
  expect(await ensured).toMatchObject({ kind: 'live', changed: true })
  expect(requests).toEqual(['create'])
})

test('a name that is taken is asked about: ours is changed by its uid, another one is never touched', async () => {
  const ours = setUp({ live: present, answers: [error(409, 'exists')] })
  expect(await ours.ensured).toMatchObject({ kind: 'live', changed: true })
  expect(ours.requests).toEqual(['create', 'get', 'change one'])
  const foreign = setUp({ live: present, answers: [error(409, 'exists')], isOurs: () => false })
  expect(await foreign.ensured).toEqual({ kind: 'foreign', object: present })
  expect(foreign.requests).toEqual(['create', 'get'])
})

test('what is as wanted is not written; what may exist is asked for first', async () => {
  const cached = setUp({ cached: present, needsApply: () => false })
  expect(await cached.ensured).toEqual({ kind: 'live', object: present, changed: false })
  expect(cached.requests).toEqual([])
  const named = setUp({ mayExist: true, live: present, needsApply: () => false })
  expect(await named.ensured).toEqual({ kind: 'live', object: present, changed: false })
  expect(named.requests).toEqual(['get'])
})

test('an object that is being deleted in the cache is read from the server', async () => {
  const { ensured, requests } = setUp({ cached: thing('a', { deletionTimestamp: '2026-01-01T00:00:00Z' }) })
  expect(await ensured).toMatchObject({ kind: 'live', changed: true })
  expect(requests).toEqual(['get', 'create'])
})

test('one that is gone when it is changed is created', async () => {
  const { ensured, requests } = setUp({ cached: present, answers: [error(404, 'not found')] })
  expect(await ensured).toMatchObject({ kind: 'live', changed: true })
  expect(requests).toEqual(['change one', 'create'])
})

test('nothing is changed from facts that are out of date', async () => {
  const { ensured, requests } = setUp({ cached: present, assertCurrent: () => Promise.reject(new Error('out of date')) })
  await expect(ensured).rejects.toThrow('out of date')
  expect(requests).toEqual([])
})

test.each([
  [error(403, 'exceeded quota: tenant'), 'quota'],
  [error(422, 'spec is invalid'), 'content'],
  [error(500, 'failed to create typed patch object'), 'content'],
] as const)('%s is a refusal because of %s', async (answer, because) => {
  expect(await setUp({ answers: [answer] }).ensured).toEqual({
    kind: 'refused',
    because,
    message: `the cluster refuses Thing a: ${answer.message}`,
  })
})

test.each([error(401, 'expired'), error(503, 'busy'), error(403, 'things is forbidden: User "x" cannot create resource')])(
  '%s is thrown, because a retry may succeed',
  async answer => {
    await expect(setUp({ answers: [answer] }).ensured).rejects.toBe(answer)
  },
)
