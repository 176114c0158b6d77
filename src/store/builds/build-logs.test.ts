// Build logs on both databases: what one transaction changes, who may go on writing, and what is deleted.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, movableClock, openTestStore, type TestDatabase, type TestStore } from '../../../test/fixtures/databases.ts'
import type { LogChange } from './build-logs.ts'
import { compressText, decompressText, maxChunkBytes } from './log-text.ts'

test('the largest chunk fits the table also when it cannot be compressed, and nothing larger is made or read', () => {
  const noise = new Uint8Array(maxChunkBytes)
  for (let from = 0; from < noise.length; from += 16_000) crypto.getRandomValues(noise.subarray(from, from + 16_000))
  const stored = compressText(noise)
  expect(stored.length).toBeLessThanOrEqual(65_536)
  expect(decompressText(stored).equals(noise)).toBe(true)
  expect(() => compressText(new Uint8Array(maxChunkBytes + 1))).toThrow(RangeError)
})

describe.each(databases)('build logs on $name', ({ start }) => {
  const clock = movableClock()
  let place: TestDatabase
  let store: TestStore
  beforeAll(async () => {
    place = await start()
    store = await openTestStore(place.location, clock)
  })
  afterAll(async () => {
    await store?.close()
    await place?.stop()
  })

  const build = (
    change: { readonly id?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string } = {},
  ) => ({
    id: change.id ?? randomUUID(),
    namespace: change.namespace ?? 'acme',
    buildNamespace: 'acme-build',
    name: change.name ?? 'shop-1',
    remoteSync: { name: 'shop', uid: change.uid ?? 'uid-1' },
    commit: 'a'.repeat(40),
    attempt: 1,
    createdAt: clock.now(),
  })
  const change = (text: string, more: Partial<LogChange> = {}): LogChange => {
    const content = compressText(Buffer.from(text))
    const put = [{ sequence: 0, step: 'build', firstByte: 0, endByte: text.length, content }]
    const position = { step: 'build', read: { lines: 3 } }
    return { put, drop: [], position, steps: [], bytes: text.length, leftOut: 0, stored: content.length, ...more }
  }
  const textOf = async (id: string, from = 0): Promise<string> =>
    (await store.keptLogs.after(id, from)).map(({ text }) => text.toString()).join('')

  test('text and position are written together, and again under a newer revision only', async () => {
    const { id } = build()
    const opened = await store.buildLogs.begin(build({ id }))
    expect(opened).toMatchObject({ revision: 0, position: undefined, chunks: [] })
    expect(await store.buildLogs.append(id, 0, change('one\n'))).toBe(1)
    await expect(store.buildLogs.append(id, 0, change('another leader\n'))).rejects.toMatchObject({ code: 'conflict' })
    expect(await textOf(id)).toBe('one\n')
    // The last chunk is rewritten while it grows.
    await store.buildLogs.append(id, 1, change('one\ntwo\n'))
    expect(await textOf(id)).toBe('one\ntwo\n')
    expect(await textOf(id, 4)).toBe('two\n')
    const again = await store.buildLogs.begin(build({ id }))
    expect(again).toMatchObject({ revision: 2, position: { step: 'build', read: { lines: 3 } }, record: { bytes: 8 } })
    expect(again.chunks).toMatchObject([{ sequence: 0, step: 'build', firstByte: 0, endByte: 8 }])
    await store.buildLogs.append(id, 2, change('', { put: [], drop: [0], bytes: 8, leftOut: 8, stored: 0 }))
    expect(await textOf(id)).toBe('')
  })

  test('a build ends once; one that was taken for cancelled and goes on is open again', async () => {
    const { id } = build()
    await store.buildLogs.begin(build({ id }))
    expect((await store.buildLogs.open()).map(record => record.id)).toContain(id)
    await store.buildLogs.end(id, { outcome: 'Cancelled' })
    expect(await store.buildLogs.complete([id])).toEqual(new Set())
    expect((await store.buildLogs.begin(build({ id }))).record.ended).toBeUndefined()
    await store.buildLogs.end(id, { outcome: 'Failed', cause: 'no start command' })
    await store.buildLogs.end(id, { outcome: 'Succeeded' })
    expect((await store.buildLogs.begin(build({ id }))).record.ended).toMatchObject({
      outcome: 'Failed',
      cause: 'no start command',
    })
    expect(await store.buildLogs.complete([id, randomUUID()])).toEqual(new Set([id]))
  })

  test('the newest build of a name is found, and by its RemoteSync', async () => {
    const namespace = 'finding'
    const first = build({ namespace, name: 'web-1' })
    await store.buildLogs.begin(first)
    clock.advance(1)
    const second = { ...build({ namespace, name: 'web-1' }), remoteSync: { name: 'web', uid: 'uid-web' } }
    await store.buildLogs.begin(second)
    expect((await store.keptLogs.find(namespace, 'web-1'))?.id).toBe(second.id)
    expect((await store.keptLogs.find(namespace, 'shop'))?.id).toBe(first.id)
    expect(await store.keptLogs.find('other', 'web-1')).toBeUndefined()
    expect((await store.keptLogs.list(namespace, { limit: 10 })).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await store.keptLogs.list(namespace, { remoteSync: 'web', limit: 10 })).toHaveLength(1)
  })

  test('a rebase is found by its own name, and hides no build of a commit', async () => {
    const namespace = 'rebased'
    const built = build({ namespace, name: 'shop-0123456789ab' })
    await store.buildLogs.begin(built)
    clock.advance(1)
    const rebase = build({ namespace, name: 'shop-rebase-0123456789ab' })
    await store.buildLogs.begin(rebase)
    expect((await store.keptLogs.find(namespace, 'shop'))?.id).toBe(built.id)
    expect((await store.keptLogs.find(namespace, rebase.name))?.id).toBe(rebase.id)
    // The build of a RemoteSync with such a name.
    const other = { ...build({ namespace, name: 'shop-rebase-ba9876543210' }), remoteSync: { name: 'shop-rebase', uid: 'uid-2' } }
    await store.buildLogs.begin(other)
    expect((await store.keptLogs.find(namespace, 'shop-rebase'))?.id).toBe(other.id)
  })

  test('what is old, above the share of a tenant, or of an owner that is gone is deleted with its text', async () => {
    const made: string[] = []
    for (const [namespace, uid] of [
      ['small', 's'],
      ['large', 'l'],
      ['large', 'l'],
      ['large', 'gone'],
    ] as const) {
      const record = build({ namespace, uid })
      made.push(record.id)
      await store.buildLogs.begin(record)
      await store.buildLogs.append(record.id, 0, change('x\n', { stored: 10_000 }))
      clock.advance(60)
    }
    const [small = '', oldest = '', newer = '', gone = ''] = made
    expect(await store.buildLogs.owners('')).toContainEqual({ namespace: 'large', remoteSync: 'shop', uid: 'gone' })
    expect(await store.buildLogs.deleteOf('gone')).toBe(1)
    expect(await store.keptLogs.get(gone)).toBeUndefined()
    // A build that runs is never deleted.
    const before = new Date(0)
    await store.buildLogs.expire({ before, maxStored: 15_000 }, new Map())
    expect(await store.keptLogs.get(oldest)).toBeDefined()
    for (const id of [small, oldest, newer]) await store.buildLogs.end(id, { outcome: 'Succeeded' })
    await store.buildLogs.expire({ before, maxStored: 15_000 }, new Map())
    expect(await store.keptLogs.get(oldest)).toBeUndefined()
    expect(await textOf(oldest)).toBe('')
    for (const id of [small, newer]) expect(await store.keptLogs.get(id)).toBeDefined()
    clock.advance(3600)
    await store.buildLogs.expire({ before: clock.now(), maxStored: 15_000 }, new Map())
    expect(await store.keptLogs.get(small)).toBeUndefined()
  })

  test('a namespace with limits of its own keeps more or less than the others, of both', async () => {
    const usual = { before: new Date(clock.now().getTime() + 1000), maxStored: 15_000 }
    const made = new Map<string, string[]>()
    for (const namespace of ['usual', 'longer', 'shorter', 'more', 'less']) {
      for (const uid of ['first', 'second']) {
        const record = build({ namespace, uid: `${namespace}-${uid}` })
        made.set(namespace, [...(made.get(namespace) ?? []), record.id])
        await store.buildLogs.begin(record)
        await store.buildLogs.append(record.id, 0, change('x\n', { stored: 10_000 }))
        await store.buildLogs.end(record.id, { outcome: 'Succeeded' })
        clock.advance(60)
      }
    }
    const kept = async (namespace: string) => {
      const found = await Promise.all((made.get(namespace) ?? []).map(id => store.keptLogs.get(id)))
      return found.map(record => record !== undefined)
    }
    const [long, now] = [new Date(0), clock.now()]
    // By size alone.
    await store.buildLogs.expire(
      { before: long, maxStored: 15_000 },
      new Map([
        ['longer', { before: long, maxStored: 30_000 }],
        ['shorter', { before: long, maxStored: 30_000 }],
        ['more', { before: long, maxStored: 30_000 }],
        ['less', { before: long, maxStored: 1 }],
      ]),
    )
    expect(await Promise.all(['usual', 'more', 'less'].map(kept))).toEqual([
      [false, true],
      [true, true],
      [false, false],
    ])
    // By age alone: the usual age is that of the first build.
    await store.buildLogs.expire(
      { ...usual, maxStored: 1_000_000 },
      new Map([
        ['longer', { before: long, maxStored: 1_000_000 }],
        ['shorter', { before: now, maxStored: 1_000_000 }],
      ]),
    )
    expect(await Promise.all(['usual', 'longer', 'shorter', 'more'].map(kept))).toEqual([
      [false, true],
      [true, true],
      [false, false],
      [true, true],
    ])
  })
})
