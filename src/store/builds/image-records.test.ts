// Records of pushed images on both databases: when one begins anew, what is due, and when a deletion may be intended.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases, movableClock, openTestStore, type TestDatabase, type TestStore } from '../../../test/fixtures/databases.ts'
import type { PushedImage } from './image-records.ts'

describe.each(databases)('records of images on $name', ({ start }) => {
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

  let registries = 0
  /** A registry of its own for each test. */
  const fresh = () => {
    registries += 1
    const registry = `r${registries}.example.com`
    const repository = { registry, repository: 'apps/acme/shop' }
    const image = (tag: string, more: Partial<PushedImage> = {}): PushedImage => {
      return {
        ...repository,
        tag,
        namespace: 'acme',
        kind: 'Image',
        owner: 'uid-1',
        buildId: randomUUID(),
        ofPreview: false,
        ...more,
      }
    }
    const all = () => store.images.ofRepository(repository, 100)
    return { registry, repository, image, all }
  }
  const at = (hours: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + hours * 3_600_000)
  const digest = `sha256:${'a'.repeat(64)}`

  test('a build is recorded once; another build of the same tag begins anew', async () => {
    const { image, all, repository } = fresh()
    const first = image('shop-1')
    await store.images.record([first], at(24))
    await store.images.resolve(repository, 'shop-1', digest)
    await store.images.looked(repository, ['shop-1'], { lookAt: at(48), unusedSince: at(24) })
    await store.images.record([first], at(99))
    expect(await all()).toEqual([{ ...first, digest, lookAt: at(48), unusedSince: at(24), deletingSince: undefined }])
    // A tag that is found in the registry says nothing new about a build that is recorded.
    await store.images.record([image('shop-1', { buildId: undefined, owner: undefined })], at(99))
    expect(await all()).toMatchObject([{ buildId: first.buildId, lookAt: at(48) }])
    const again = image('shop-1')
    await store.images.record([again], at(72))
    expect(await all()).toEqual([
      { ...again, digest: undefined, lookAt: at(72), unusedSince: undefined, deletingSince: undefined },
    ])
  })

  test('the looks at images of a preview are brought forward, and no others', async () => {
    const { image, all, registry } = fresh()
    const preview = (tag: string, owner: string) => image(tag, { ofPreview: true, owner })
    await store.images.record([preview('a', 'ended'), preview('b', 'ended'), preview('c', 'runs'), image('d')], at(24))
    await store.images.record([preview('e', 'ended')], at(1))
    expect([...(await store.images.previewOwners(registry))].sort()).toEqual(['ended', 'runs'])
    await store.images.hasten(registry, ['ended', 'uid-1'], at(2))
    expect((await all()).map(({ tag, lookAt }) => [tag, lookAt])).toEqual([
      ['a', at(2)],
      ['b', at(2)],
      ['c', at(24)],
      ['d', at(24)],
      ['e', at(1)],
    ])
  })

  test('repositories are due by their oldest record, in one registry only', async () => {
    const { image, registry } = fresh()
    const other = fresh()
    await store.images.record([image('a')], at(3))
    await store.images.record([image('b'), image('c')], at(9))
    await store.images.record([image('d', { repository: 'apps/acme/site' })], at(2))
    await store.images.record([other.image('e')], at(1))
    const [shop, site] = ['apps/acme/shop', 'apps/acme/site'].map(repository => ({ registry, repository, namespace: 'acme' }))
    expect(await store.images.due(registry, at(1), 10)).toEqual([])
    expect(await store.images.due(registry, at(2), 10)).toEqual([site])
    expect(await store.images.due(registry, at(9), 10)).toEqual([site, shop])
    expect(await store.images.due(registry, at(9), 1)).toEqual([site])
    await store.images.postpone({ registry, repository: 'apps/acme/site' }, ['d'], at(20))
    expect(await store.images.due(registry, at(9), 10)).toEqual([shop])
  })

  test('only what is unused, all of it, may be intended to be deleted; a look that finds a use ends the intent', async () => {
    const { image, all, repository } = fresh()
    await store.images.record([image('a'), image('b')], at(1))
    await store.images.looked(repository, ['a'], { lookAt: at(2), unusedSince: at(1) })
    expect(await store.images.intend(repository, ['b'], at(3))).toBe(false)
    expect(await store.images.intend(repository, ['a', 'b'], at(3))).toBe(false)
    expect(await store.images.intend(repository, ['a', 'gone'], at(3))).toBe(false)
    await store.images.looked(repository, ['b'], { lookAt: at(2), unusedSince: at(2) })
    expect(await store.images.intend(repository, ['a', 'b'], at(4))).toBe(true)
    expect((await all()).map(({ deletingSince }) => deletingSince)).toEqual([at(4), at(4)])
    await store.images.looked(repository, ['a'], { lookAt: at(9), unusedSince: undefined })
    expect(await all()).toMatchObject([{ unusedSince: undefined, deletingSince: undefined }, { deletingSince: at(4) }])
    await store.images.forget(repository, ['b', 'gone'])
    expect((await all()).map(({ tag }) => tag)).toEqual(['a'])
  })

  test('what a tenant names cannot break the statement', async () => {
    const { image, all } = fresh()
    const tag = "x'); DELETE FROM builds.images; --"
    await store.images.record([image(tag)], at(1))
    expect(await all()).toMatchObject([{ tag }])
  })
})
