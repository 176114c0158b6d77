// The decision about one digest, exhaustively: over everything that may name it, and over the times of one and of two records.
import { describe, expect, test } from 'vitest'
import { type DigestFacts, decide, endedPreviewMilliseconds, graceOf, type PresentImage } from './decide.ts'

const hour = 3_600_000
const now = new Date('2026-01-10T00:00:00Z')
const periodMilliseconds = 24 * hour
const ago = (hours: number): Date => new Date(now.getTime() - hours * hour)

const digest = `sha256:${'a'.repeat(64)}`
const image = (more: Partial<PresentImage> = {}): PresentImage => ({
  registry: 'registry.example.com',
  repository: 'apps/acme/shop',
  tag: 'shop-1',
  namespace: 'acme',
  kind: 'Image',
  owner: 'uid-1',
  buildId: 'build-1',
  ofPreview: false,
  digest,
  lookAt: ago(0),
  unusedSince: ago(24),
  deletingSince: undefined,
  ...more,
})
const nothing = {
  digests: new Set<string>(),
  pinned: new Map<string, ReadonlySet<string>>(),
  references: new Set<string>(),
  remoteSyncs: new Set<string>(),
}
const pinnedIn = (...repositories: readonly string[]) =>
  new Map([[digest, new Set(repositories.map(repository => `registry.example.com/${repository}`))]])
const facts = (more: Partial<DigestFacts> = {}): DigestFacts => ({
  digest,
  images: [image()],
  names: nothing,
  taggedByOthers: false,
  now,
  graceMilliseconds: periodMilliseconds,
  ...more,
})
const decided = (more: Partial<DigestFacts> = {}): string => decide(facts(more)).kind

test('what nothing named at two looks a period apart is deleted', () => {
  expect(decided()).toBe('delete')
})

describe('each thing that may need it keeps it, alone and with all others', () => {
  type Named = { digest: boolean; tag: boolean; owner: boolean; others: boolean }
  const needs: readonly ((names: Named) => Partial<DigestFacts>)[] = [false, true].map(
    isPinned =>
      ({ digest: byDigest, tag, owner, others }) => ({
        names: {
          digests: new Set(byDigest && !isPinned ? [digest] : []),
          pinned: byDigest && isPinned ? pinnedIn('apps/acme/site', 'apps/acme/shop') : nothing.pinned,
          references: new Set(tag ? ['apps/acme/shop:shop-1'] : []),
          remoteSyncs: new Set(owner ? ['uid-1'] : []),
        },
        taggedByOthers: others,
      }),
  )
  const flags = [false, true]
  const all = flags.flatMap(byDigest =>
    flags.flatMap(tag => flags.flatMap(owner => flags.map(others => ({ digest: byDigest, tag, owner, others })))),
  )
  test.each(all)('digest $digest, tag $tag, RemoteSync $owner, tag of others $others', named => {
    for (const need of needs) {
      const byAny = named.digest || named.tag || named.others
      // A RemoteSync needs its cache, not every image that it ever built.
      expect(decided(need(named))).toBe(byAny ? 'keep' : 'delete')
      const cache = { ...need(named), images: [image({ kind: 'Cache' })] }
      expect(decided(cache)).toBe(byAny || named.owner ? 'keep' : 'delete')
      // One of two tags suffices: both go with the manifest.
      const second = image({ tag: 'shop-2' })
      expect(decided({ ...need(named), images: [second, image()] })).toBe(byAny ? 'keep' : 'delete')
    }
  })
})

describe('what another digest, tag, repository or RemoteSync is named for keeps nothing', () => {
  test.each([
    [{ ...nothing, digests: new Set([`sha256:${'b'.repeat(64)}`]) }],
    // The cache of another application has the same layers.
    [{ ...nothing, pinned: pinnedIn('apps/acme/site', 'apps/acme/shop-pr-1', 'apps/acme/my-apps/acme/shop-pr-1') }],
    [
      {
        ...nothing,
        references: new Set(['apps/acme/shop:shop-2', 'apps/acme/site:shop-1', 'apps/globex/shop:shop-1', 'shop-1']),
      },
    ],
    [{ ...nothing, remoteSyncs: new Set(['uid-2', '']) }],
  ])('%o', names => {
    expect(decided({ names, images: [image({ kind: 'Cache' })] })).toBe('delete')
  })
})

test('a cache whose owner is not known stays', () => {
  expect(decided({ images: [image({ kind: 'Cache', owner: undefined })] })).toBe('keep')
  expect(decided({ images: [image({ owner: undefined })] })).toBe('delete')
})

describe('time: every tag was found unused a period ago', () => {
  const times: readonly (readonly [string, Date | undefined, boolean])[] = [
    ['never', undefined, false],
    ['now', now, false],
    ['a millisecond too short', new Date(ago(24).getTime() + 1), false],
    ['exactly a period', ago(24), true],
    ['long ago', ago(1000), true],
    ['in the future', ago(-1), false],
  ]
  const pairs = times.flatMap(first => times.map(second => [first, second] as const))
  test.each(times)('%s', (_, unusedSince, ripe) => {
    expect(decided({ images: [image({ unusedSince })] })).toBe(ripe ? 'delete' : 'unused')
  })
  test.each(pairs)('%s and %s', ([, first, firstRipe], [, second, secondRipe]) => {
    const images = [image({ unusedSince: first }), image({ tag: 'shop-2', unusedSince: second })]
    expect(decided({ images })).toBe(firstRipe && secondRipe ? 'delete' : 'unused')
  })
})

test('a digest without a record is never deleted', () => {
  expect(decided({ images: [] })).toBe('keep')
})

describe('how long nothing may have named an image', () => {
  const preview = (more: Partial<PresentImage> = {}) => image({ ofPreview: true, ...more })
  const rest = (images: readonly PresentImage[], remoteSyncs: readonly string[] = []) =>
    graceOf(images, { ...nothing, remoteSyncs: new Set(remoteSyncs) }, periodMilliseconds)

  test.each([
    ['a preview that has ended', [preview(), preview({ kind: 'Cache', tag: 'cache-uid-1' })], endedPreviewMilliseconds],
    ['an application', [image()], periodMilliseconds],
    ['a preview and an application', [preview(), image({ tag: 'shop-2' })], periodMilliseconds],
    ['a preview that has ended and one that runs', [preview(), preview({ tag: 'shop-2', owner: 'uid-2' })], periodMilliseconds],
    ['a preview of which the owner is not known', [preview({ owner: undefined })], periodMilliseconds],
  ])('%s', (_what, images, expected) => {
    expect(rest(images, ['uid-2'])).toBe(expected)
  })

  test('is never longer for a preview than for others', () => {
    expect(graceOf([preview()], nothing, 1000)).toBe(1000)
  })
})
