// Finalizers of several controllers on one object, each of which adds and removes its own with a copy that may be stale, while
// a user edits the list: adding or removing again changes nothing, and no finalizer of another owner is lost.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Applied, KubeClient } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import { addFinalizer, removeFinalizer } from './finalizers.ts'

const mine = ['sekisho.dev/a', 'sekisho.dev/b'] as const

/** One object as the API server stores it: `metadata.finalizers` is a set whose elements belong to field managers. */
function createServer(first: readonly string[]) {
  const owners = new Map<string, Set<string>>([['user', new Set(first)]])
  let version = 1
  let deletionTimestamp: string | undefined
  let writes = 0
  const list = (): string[] => [...new Set([...owners.values()].flatMap(set => [...set]))].sort()
  let gone = false
  const now = (): Thing | undefined =>
    gone
      ? undefined
      : thing('x', { resourceVersion: String(version), finalizers: list(), ...(deletionTimestamp ? { deletionTimestamp } : {}) })
  const changed = (before: string): void => {
    if (before !== JSON.stringify(list())) writes += 1
    version += 1
    if (deletionTimestamp !== undefined && list().length === 0) gone = true
  }
  const guardUid = (uid: unknown): void => {
    if (gone) throw new KubeError('Conflict: uid mismatch: no existing object was found', { status: 409, reason: 'Conflict' })
    if (uid !== 'uid-x') throw new KubeError('immutable', { status: 422, reason: 'Invalid', fields: ['metadata.uid'] })
  }
  const answer = (): never => now() as never
  const client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'> = {
    get: async () => answer(),
    async apply(_type, object: Applied, { fieldManager }) {
      guardUid(object.metadata.uid)
      const wanted = object.metadata.finalizers ?? []
      if (deletionTimestamp !== undefined && wanted.some(each => !list().includes(each)))
        throw new KubeError('no new finalizers', { status: 422, reason: 'Invalid', fields: ['metadata.finalizers'] })
      const before = JSON.stringify(list())
      const state = thing('x', { resourceVersion: String(version) })
      owners.set(fieldManager, new Set(wanted))
      changed(before)
      return (now() ?? state) as never
    },
    async mergePatch(_type, _key, patch) {
      if (gone) return undefined
      const { metadata } = patch as { metadata: { resourceVersion: string; finalizers: string[] } }
      if (metadata.resourceVersion !== String(version)) throw new KubeError('changed', { status: 409, reason: 'Conflict' })
      const before = JSON.stringify(list())
      for (const set of owners.values()) for (const each of [...set]) if (!metadata.finalizers.includes(each)) set.delete(each)
      changed(before)
      return answer()
    },
  }
  return {
    client,
    now,
    list,
    writes: () => writes,
    edit(finalizer: string) {
      owners.get('user')?.add(finalizer)
      version += 1
    },
    leave() {
      deletionTimestamp = '2026-01-01T00:00:00Z'
      changed('')
    },
  }
}

const step = fc.record({
  do: fc.constantFrom('add' as const, 'remove', 'stale', 'edit', 'leave'),
  who: fc.constantFrom(...mine),
})
type Server = ReturnType<typeof createServer>

/** Adds or removes from `copy`, then again from the newest copy; true when the second call could be checked. */
async function addOrRemove(server: Server, copy: Thing, what: 'add' | 'remove', who: (typeof mine)[number]): Promise<boolean> {
  const withoutOwn = (): readonly string[] => server.list().filter(each => each !== who)
  const others = withoutOwn()
  const work = what === 'add' ? addFinalizer : removeFinalizer
  const result = await work(server.client, things, copy, who)
  expect(withoutOwn()).toEqual(others)
  const again = server.now()
  // A stale copy may not require any change; the newer copy of the next event will.
  const had = copy.metadata.finalizers?.includes(who) ?? false
  if (again === undefined || had !== (what === 'remove')) return false
  const leaving = again.metadata.deletionTimestamp !== undefined
  if (what === 'remove') expect(server.list()).not.toContain(who)
  else if (result !== undefined && !leaving) expect(server.list()).toContain(who)
  const writes = server.writes()
  await work(server.client, things, again, who)
  expect(server.writes()).toBe(writes)
  return true
}

/** True when it could be checked that adding or removing again changes nothing. */
async function perform(server: Server, copy: Thing, what: 'add' | 'remove' | 'edit' | 'leave', who: (typeof mine)[number]) {
  const present = server.now()
  if (present === undefined) return false
  if (what === 'add' || what === 'remove') return addOrRemove(server, copy, what, who)
  if (what === 'leave') server.leave()
  else if (present.metadata.deletionTimestamp === undefined) server.edit('user.dev/x')
  return false
}

test('adding and removing are idempotent and change no other finalizer, from any copy of the object', async () => {
  let checked = 0
  const before = fc.subarray([...mine, 'user.dev/x'])
  await fc.assert(
    fc.asyncProperty(before, fc.array(step, { maxLength: 25, size: 'max' }), async (first, steps) => {
      const server = createServer(first)
      let copy = thing('x', { resourceVersion: '1', finalizers: first })
      for (const { do: what, who } of steps) {
        // A controller acts on its newest copy; `stale` is the step in which it gets one.
        if (what === 'stale') copy = server.now() ?? copy
        else if (await perform(server, copy, what, who)) checked += 1
      }
    }),
    { numRuns: 300 },
  )
  expect(checked).toBeGreaterThan(300)
})
