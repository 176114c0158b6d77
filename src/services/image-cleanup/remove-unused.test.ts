// Rounds over a registry in memory and a real database: what leaves, what stays, what happens between a decision and its
// deletion, and what a round that ends anywhere leaves to the next one.
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { databases, movableClock, openTestStore, type TestDatabase, type TestStore } from '../../../test/fixtures/databases.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { PushedImage } from '../../store/builds/image-records.ts'
import { createCooldowns } from './cooldowns.ts'
import { createImageClaims, type ImageClaims } from './image-claims.ts'
import type { ClusterLook } from './look.ts'
import { createImageNames } from './named-images.ts'
import type { Doubt, RegistryImages, Removal } from './registry-images.ts'
import { type RemovalDeps, removeUnused } from './remove-unused.ts'

const host = 'registry.example.com'
const repository = 'apps/acme/shop'
const day = 86_400
const digestOf = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`
const doubt: Doubt = { kind: 'doubt', message: 'it answered 503', unavailable: true }

/** Tag by tag what each repository has; a deletion takes all tags of the digest in that repository, as distribution does. */
function memoryRegistry() {
  const repositories = new Map<string, Map<string, string>>()
  const removed: string[] = []
  const answers: { tags?: Doubt; digest?: Doubt; remove?: Removal } = {}
  const hooks: { beforeRemove?: () => void } = {}
  const of = (name: string): Map<string, string> => {
    const found = repositories.get(name) ?? new Map<string, string>()
    repositories.set(name, found)
    return found
  }
  const port: RegistryImages = {
    tagsOf: async name => answers.tags ?? { kind: 'tags', tags: [...of(name).keys()] },
    async digestOf(name, tag) {
      const digest = of(name).get(tag)
      return answers.digest ?? (digest === undefined ? { kind: 'absent' } : { kind: 'digest', digest })
    },
    async remove(name, digest) {
      hooks.beforeRemove?.()
      if (answers.remove !== undefined) return answers.remove
      removed.push(`${name}@${digest}`)
      for (const [tag, meant] of of(name)) if (meant === digest) of(name).delete(tag)
      return { kind: 'deleted' }
    },
  }
  return { of, removed, answers, hooks, port }
}

let place: TestDatabase
let store: TestStore
const clock = movableClock()
beforeAll(async () => {
  const [database] = databases
  if (database === undefined) throw new Error('there is no database')
  place = await database.start()
  store = await openTestStore(place.location, clock)
})
afterAll(async () => {
  await store?.close()
  await place?.stop()
})

let registry: ReturnType<typeof memoryRegistry>
let text: string
let building: Set<string>
let remoteSyncs: Set<string>
let looks: number
let onLook: (look: number) => unknown
let counts: Map<string, number>
let leadership: { leads: boolean }
let isEmpty: boolean
let claims: ImageClaims
let deps: RemovalDeps

beforeEach(async () => {
  const rows = await store.images.ofRepository({ registry: host, repository }, 1000)
  await store.images.forget(
    { registry: host, repository },
    rows.map(({ tag }) => tag),
  )
  registry = memoryRegistry()
  text = ''
  building = new Set()
  remoteSyncs = new Set()
  looks = 0
  onLook = () => {}
  counts = new Map()
  isEmpty = false
  leadership = { leads: true }
  claims = createImageClaims(clock)
  deps = {
    images: store.images,
    registryImages: registry.port,
    async look(): Promise<ClusterLook> {
      looks += 1
      await onLook(looks)
      const { add, names } = createImageNames()
      add(text)
      return { ...names(), remoteSyncs, building }
    },
    isEmptyCluster: () => isEmpty,
    cooldowns: createCooldowns({ clock, log: silentLog, observe: () => {} }),
    count: (result, number = 1) => void counts.set(result, (counts.get(result) ?? 0) + number),
    claims,
    registry: `${host}/apps`,
    onlyBuildsPush: true,
    periodMilliseconds: day * 1000,
    isLeader: () => leadership.leads,
    clock,
    log: silentLog,
  }
})

async function push(tag: string, content = tag, more: Partial<PushedImage> = {}): Promise<string> {
  const image = {
    registry: host,
    repository,
    tag,
    namespace: 'acme',
    kind: 'Image',
    owner: 'uid-1',
    buildId: randomUUID(),
    ofPreview: false,
  } as const
  await store.images.record([{ ...image, ...more }], new Date(clock.now().getTime() + day * 1000))
  registry.of(more.repository ?? repository).set(tag, digestOf(content))
  return digestOf(content)
}

const round = (): Promise<void> => removeUnused(deps, host, new AbortController().signal)
/** As the loop does, from minute to minute; twelve minutes are enough for what is postponed. */
async function days(count: number): Promise<void> {
  for (let each = 0; each < count; each++) {
    clock.advance(day)
    await round()
  }
}
const tags = (): readonly string[] => [...registry.of(repository).keys()].sort()
const recorded = async (): Promise<readonly string[]> =>
  (await store.images.ofRepository({ registry: host, repository }, 1000)).map(({ tag }) => tag)

describe('what leaves and what stays', () => {
  test('what nothing names goes at the second look, with its record; what is named stays', async () => {
    const kept = await push('shop-2')
    await push('shop-1')
    text = JSON.stringify({ spec: { image: `${host}/${repository}@${kept}` } })
    await round()
    expect([tags(), looks]).toEqual([['shop-1', 'shop-2'], 0])
    await days(1)
    expect(tags()).toEqual(['shop-1', 'shop-2'])
    await days(1)
    expect([tags(), await recorded()]).toEqual([['shop-2'], ['shop-2']])
    await days(3)
    expect([tags(), Object.fromEntries(counts)]).toEqual([['shop-2'], { unused: 1, kept: 5, deleted: 1 }])
  })

  test('a use between two looks begins the time anew', async () => {
    const digest = await push('shop-1')
    await days(1)
    text = digest
    await days(1)
    text = ''
    await days(1)
    expect(tags()).toEqual(['shop-1'])
    await days(1)
    expect(tags()).toEqual([])
  })

  test('a build of the same content keeps both of its tags until its own time is over', async () => {
    await push('shop-1', 'same')
    await days(1)
    await push('shop-2', 'same')
    await days(1)
    expect(tags()).toEqual(['shop-1', 'shop-2'])
    await days(2)
    expect([tags(), await recorded()]).toEqual([[], []])
    expect(registry.removed).toEqual([`${repository}@${digestOf('same')}`])
  })

  test('two tags of one digest that were recorded at different times do not keep each other for ever', async () => {
    await push('shop-1', 'same')
    clock.advance(day / 2)
    await push('shop-2', 'same')
    for (let half = 0; half < 6; half++) {
      clock.advance(day / 2)
      await round()
    }
    expect(tags()).toEqual([])
  })

  test('the same digest below the path of another tenant is not touched', async () => {
    await push('shop-1', 'same')
    registry.of('apps/globex/site').set('site-1', digestOf('same'))
    await days(2)
    expect([tags(), [...registry.of('apps/globex/site').keys()]]).toEqual([[], ['site-1']])
  })

  test('a cache stays as long as its RemoteSync, whatever it means by then', async () => {
    remoteSyncs.add('uid-1')
    await push('cache-1', 'cache', { kind: 'Cache' })
    await days(3)
    registry.of(repository).set('cache-1', digestOf('newer'))
    await days(3)
    expect(tags()).toEqual(['cache-1'])
    remoteSyncs.clear()
    await days(2)
    expect([tags(), registry.removed]).toEqual([[], [`${repository}@${digestOf('newer')}`]])
  })

  test('the tag of a rebase, which means the image before at first, keeps nothing and loses nothing', async () => {
    const tag = 'shop-rebase-0123456789ab'
    await push(tag, 'before')
    await days(1)
    registry.of(repository).set(tag, digestOf('rebased'))
    text = digestOf('rebased')
    await days(3)
    expect([tags(), await recorded(), registry.removed]).toEqual([[tag], [tag], []])
  })

  test('a tag that is not recorded is found by the others of its repository, and gets the time of a new one', async () => {
    const kept = await push('shop-2')
    registry.of(repository).set('old-1', digestOf('old'))
    text = kept
    await days(2)
    expect(tags()).toEqual(['old-1', 'shop-2'])
    await days(1)
    expect(tags()).toEqual(['shop-2'])
  })

  test('where others can push, their tags keep what they mean', async () => {
    deps = { ...deps, onlyBuildsPush: false }
    await push('shop-1', 'one')
    await push('shop-2', 'two')
    registry.of(repository).set('v1', digestOf('one'))
    registry.of(repository).set('v2', digestOf('others'))
    await days(4)
    expect([tags(), await recorded()]).toEqual([['shop-1', 'v1', 'v2'], ['shop-1']])
  })

  test('a failed build leaves no record for ever', async () => {
    await push('shop-1')
    registry.of(repository).clear()
    await days(1)
    expect(await recorded()).toEqual([])
  })

  test('a repository that is not one of builds is never touched, whatever a record says', async () => {
    const cnb = { registry: host, repository: 'cnb/builder' }
    for (const [path, namespace] of [
      ['cnb/builder', 'cnb'],
      ['apps/globex/site', 'acme'],
      ['apps/acme/shop/deep', 'acme'],
    ] as const)
      await push('1', 'platform', { repository: path, namespace })
    await days(4)
    expect([registry.removed, [...registry.of('cnb/builder').keys()]]).toEqual([[], ['1']])
    for (const path of ['cnb/builder', 'apps/globex/site', 'apps/acme/shop/deep'])
      await store.images.forget({ ...cnb, repository: path }, ['1'])
  })

  test('at most 50 images go in one round, and the rest in the next ones', async () => {
    for (let number = 0; number < 60; number++) await push(`shop-${number}`)
    await days(2)
    expect(tags()).toHaveLength(10)
    await round()
    expect([tags(), await recorded()]).toEqual([[], []])
  })
})

describe('between the decision and the deletion', () => {
  /** The second round's first look is one for all digests; the next one is right before the deletion. */
  async function atTheLastLook(change: () => unknown): Promise<void> {
    await days(1)
    const before = looks
    onLook = look => (look === before + 2 ? change() : undefined)
    await days(1)
    expect(looks).toBe(before + 2)
  }

  const name = (named: string) => () => {
    text = named
  }
  test.each<readonly [string, () => unknown]>([
    ['a roll back names its digest', name(digestOf('shop-1'))],
    ['a pod names its tag', name(`"${host}/${repository}:shop-1"`)],
    ['a build of the application begins', () => building.add('shop')],
    ['the tag means another image', () => registry.of(repository).set('shop-1', digestOf('else'))],
    ['another process leads', () => Object.assign(leadership, { leads: false })],
    ['the cluster does not answer', () => Promise.reject(new Error('the API server is away'))],
    ['the registry does not answer', () => Object.assign(registry.answers, { digest: doubt })],
  ])('%s: it stays', async (_, change) => {
    await push('shop-1')
    await atTheLastLook(change)
    expect([tags(), registry.removed]).toEqual([['shop-1'], []])
  })

  test('the build of another application keeps nothing', async () => {
    await push('shop-1')
    await atTheLastLook(() => building.add('site'))
    expect(tags()).toEqual([])
  })
})

describe('doubt', () => {
  test.each([
    ['tags', { tags: doubt }],
    ['a cut list', { tags: { ...doubt, unavailable: false } }],
    ['what a tag means', { digest: doubt }],
  ] as const)('%s: nothing goes until it is certain', async (_, answers) => {
    await push('shop-1')
    await days(1)
    Object.assign(registry.answers, answers)
    // Images of builds are remembered; the last question is always asked.
    await days(3)
    expect([tags(), await recorded()]).toEqual([['shop-1'], ['shop-1']])
  })

  test('a registry that is away ends the round: the next repository is not asked', async () => {
    await push('shop-1')
    await push('site-1', 'site', { repository: 'apps/acme/site' })
    registry.answers.tags = doubt
    clock.advance(day)
    await round()
    expect(counts.get('postponed')).toBe(1)
    await store.images.forget({ registry: host, repository: 'apps/acme/site' }, ['site-1'])
  })

  test('an empty cluster is not restored yet: nothing goes', async () => {
    await push('shop-1')
    await days(1)
    isEmpty = true
    await days(5)
    expect([tags(), looks]).toEqual([['shop-1'], 1])
  })

  test('while a build runs nothing goes, and no record of a tag that is not there yet', async () => {
    await push('shop-1')
    registry.of(repository).clear()
    building.add('shop')
    await days(3)
    expect(await recorded()).toEqual(['shop-1'])
  })
})

describe('a registry that does not delete', () => {
  test('is asked once a day, and keeps everything', async () => {
    for (const tag of ['shop-1', 'shop-2', 'shop-3']) await push(tag)
    let asked = 0
    registry.hooks.beforeRemove = () => {
      asked += 1
    }
    registry.answers.remove = { kind: 'refused', status: 405, byRegistry: true }
    await days(2)
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.advance(60)
      await round()
    }
    expect([asked, tags()]).toEqual([1, ['shop-1', 'shop-2', 'shop-3']])
    delete registry.answers.remove
    await days(1)
    expect(tags()).toEqual([])
  })
})

describe('a round that ends anywhere', () => {
  /** Every write of a round, by the port that makes it. */
  const writes = ['intend', 'remove', 'forget'] as const
  const when = ['before', 'after'] as const
  test.each(writes.flatMap(write => when.map(moment => [moment, write] as const)))(
    '%s %s: the next one ends the same',
    async (moment, write) => {
      await push('shop-1')
      const kept = await push('shop-2')
      text = kept
      await days(1)
      const crash = new Error('the process ended')
      const passing =
        <A extends readonly unknown[], R>(call: (...given: A) => Promise<R>) =>
        async (...given: A): Promise<R> => {
          if (moment === 'before') throw crash
          await call(...given)
          throw crash
        }
      const { images, registryImages } = deps
      const broken: RemovalDeps =
        write === 'remove'
          ? { ...deps, registryImages: { ...registryImages, remove: passing(registryImages.remove) } }
          : {
              ...deps,
              images: { ...images, [write]: passing(images[write] as (...given: readonly unknown[]) => Promise<unknown>) },
            }
      // What a process would write after its end is not written.
      const ended: RemovalDeps = { ...broken, images: { ...broken.images, postpone: () => Promise.reject(crash) } }
      clock.advance(day)
      await expect(removeUnused(ended, host, new AbortController().signal)).rejects.toBe(crash)
      await round()
      expect([tags(), await recorded()]).toEqual([['shop-2'], ['shop-2']])
      expect(registry.removed.length).toBeLessThanOrEqual(2)
    },
  )
})

describe('the images of a preview', () => {
  const preview = { ofPreview: true, owner: 'preview' } as const
  const rounds = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      clock.advance(5)
      await round()
    }
  }
  const end = () => store.images.hasten(host, ['preview'], clock.now())

  test('stay while its RemoteSync exists, and go seconds after it', async () => {
    remoteSyncs.add('preview')
    text = await push('pr-1', 'one', preview)
    await push('cache-preview', 'cache', { ...preview, kind: 'Cache' })
    await push('shop-1')
    await end()
    await rounds(4)
    expect(tags()).toEqual(['cache-preview', 'pr-1', 'shop-1'])
    remoteSyncs.clear()
    text = ''
    await end()
    await rounds(1)
    expect(tags()).toEqual(['cache-preview', 'pr-1', 'shop-1'])
    await rounds(1)
    expect(tags()).toEqual(['shop-1'])
  })

  test('stay as long as others when something names them, or the same content is an application', async () => {
    const promoted = await push('pr-1', 'one', preview)
    await push('pr-2', 'two', preview)
    await push('shop-1', 'two')
    text = promoted
    await end()
    await rounds(10)
    expect(tags()).toEqual(['pr-1', 'pr-2', 'shop-1'])
  })

  test('are not deleted while a branch takes one, and not taken when their deletion has begun', async () => {
    const image = `${host}/${repository}@${await push('pr-1', 'one', preview)}`
    await end()
    await rounds(1)
    onLook = () => claims.claim(image)
    await rounds(1)
    expect([tags(), registry.removed]).toEqual([['pr-1'], []])
    onLook = () => {}
    await end()
    clock.advance(600)
    await end()
    await rounds(1)
    expect(tags()).toEqual([])
    expect(claims.claim(image)).toBe(false)
  })
})
