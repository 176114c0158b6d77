// Whether the registry of a followed tag is asked, what runs then, and what the status says.

import { describe, expect, test } from 'vitest'
import { maxFollowed } from '../../../api/apps/application/image.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { ReleaseHeader } from '../../../api/apps/release.ts'
import { followedRegistry } from '../../../services/followed-tags/followed-registry.ts'
import type { FollowedTag } from '../../../services/followed-tags/read-tag.ts'
import { type TagState, tagName } from '../../../services/followed-tags/tag-watch.ts'
import { application, header } from '../releases/testing/application.ts'
import { byDigest, followedOf, followedStatus, hasMoved, namesOfTags } from './followed-tag.ts'

const now = new Date('2026-01-01T12:00:00.000Z')
const a = `sha256:${'a'.repeat(64)}`
const b = `sha256:${'b'.repeat(64)}`
const image = 'ghcr.io/acme/shop:v1'
const place = { registry: 'registry.example.com/apps', aliases: ['10.88.0.1:5000'] }
const remembered = { followedTag: { image, digest: a, since: '2025-12-31T00:00:00.000Z' } }

function follows(spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application {
  return application({ image, followTag: true, ...spec }, status)
}

/** What is found out, and what was asked for. */
function found(
  app: Application,
  {
    list = ['ghcr.io', 'docker.io'],
    state = {},
    following = [app],
    newest,
  }: { list?: string[]; state?: Partial<TagState>; following?: Application[]; newest?: ReleaseHeader } = {},
) {
  const asked: string[] = []
  const names: string[] = []
  const tags = {
    registries: list.map(followedRegistry),
    stateOf({ registry, repository, tag }: FollowedTag, tenant: string) {
      asked.push(`${tenant}: ${registry.origin} ${repository} ${tag}`)
      names.push(tagName(registry.host, { repository, tag }))
      return { digest: undefined, problem: undefined, requeueAfterMilliseconds: 250, ...state }
    },
  }
  return { asked, names, followed: followedOf(app, { tags, place, following, newest }) }
}

describe('the registry of a tag', () => {
  test.each([
    [image, 'acme: https://ghcr.io acme/shop v1'],
    ['ghcr.io/acme/shop', 'acme: https://ghcr.io acme/shop latest'],
    ['GHCR.io:443/acme/shop:v1', 'acme: https://ghcr.io acme/shop v1'],
    ['nginx:1', 'acme: https://registry-1.docker.io library/nginx 1'],
    ['acme/shop:v1', 'acme: https://registry-1.docker.io acme/shop v1'],
  ])('of %s is asked at the address of the list', (named, expected) => {
    const following = follows({ image: named })
    const { asked, names } = found(following)
    expect(asked).toEqual([expected])
    // By this name an answer finds the Application.
    expect(namesOfTags(following)).toEqual(names)
  })

  test.each([
    'quay.io/acme/shop:v1',
    'ghcr.io.evil.example/acme/shop:v1',
    'ghcr.io:8443/acme/shop:v1',
    '169.254.169.254/latest/meta-data:v1',
    '2852039166:80/latest/meta-data:v1',
    'evil.ghcr.io/acme/shop:v1',
  ])('of %s is not asked: it is not in the list', named => {
    const { asked, followed } = found(follows({ image: named }))
    expect(asked).toEqual([])
    expect(followed).toMatchObject({ problem: { reason: 'RegistryNotFollowed' }, requeueAfterMilliseconds: undefined })
    expect(followed?.problem?.message).toContain('a platform admin adds it to SEKISHO_FOLLOWED_REGISTRIES')
  })

  test('is never asked without a list, and the message names the setting and who sets it', () => {
    const { asked, followed } = found(follows(), { list: [] })
    expect(asked).toEqual([])
    expect(followed?.problem?.message).toBe(
      'spec.followTag: the platform follows tags in no registry: a platform admin lists ghcr.io in SEKISHO_FOLLOWED_REGISTRIES; until then name a digest (@sha256:…) in spec.image, without spec.followTag',
    )
  })

  test.each([
    'registry.example.com/apps/globex/secret:v1',
    'registry.example.com/apps/acme/shop:v1',
    'REGISTRY.example.com/apps/globex/secret:v1',
    '10.88.0.1:5000/apps/globex/secret:v1',
    'registry.example.com/../apps:v1',
  ])('is never asked about %s, also when it is listed', named => {
    const { asked, followed } = found(follows({ image: named }), { list: ['registry.example.com', '10.88.0.1:5000'] })
    expect(asked).toEqual([])
    expect(followed?.problem?.reason).toBe('RegistryNotFollowed')
  })

  test.each([
    `ghcr.io/acme/shop:${'v'.repeat(129)}`,
    `ghcr.io/${'a'.repeat(250)}:v1`,
    'ghcr.io/acme/../globex:v1',
    'ghcr.io/acme/shop:../../token',
    'ghcr.io/acme/shop:v1?n=1',
    'ghcr.io/acme/Shop:v1',
  ])('is not asked about %s, which names no image', named => {
    const { asked, followed } = found(follows({ image: named }))
    expect(asked).toEqual([])
    expect(followed?.problem?.reason).toBe('TagUnreadable')
  })

  test('is not asked while a release is pinned, and what the tag meant is remembered', () => {
    const { asked, followed } = found(follows({ pinnedRelease: 3 }, remembered))
    expect(asked).toEqual([])
    expect(followed).toMatchObject({ digest: a, problem: { reason: 'Pinned' } })
  })

  test('is not asked by an Application that does not follow', () => {
    expect(found(application({ image }))).toEqual({ asked: [], names: [], followed: undefined })
  })

  test('is asked for the oldest Applications of a namespace alone', () => {
    const all = Array.from({ length: maxFollowed + 1 }, (_, n) => {
      const metadata = { name: `shop-${n}`, namespace: 'acme', uid: `u${n}`, creationTimestamp: '2026-01-01T00:00:00Z' }
      return { ...follows(), metadata: { ...metadata, ...(n === 0 ? { creationTimestamp: '2026-01-02T00:00:00Z' } : {}) } }
    })
    const reasons = all.map(app => found(app, { following: all }).followed?.problem?.reason)
    expect(reasons).toEqual(['TooManyFollowed', ...Array.from({ length: maxFollowed }, () => undefined)])
  })
})

describe('what runs', () => {
  test('is the digest that the registry answers', () => {
    const app = follows()
    const { followed } = found(app, { state: { digest: b } })
    expect(byDigest(app, followed).spec.image).toBe(`ghcr.io/acme/shop@${b}`)
  })

  test('is what the tag meant last, while the registry is away and after a restart', () => {
    const app = follows({}, remembered)
    for (const state of [{}, { problem: 'answered 503' }]) {
      const { followed } = found(app, { state })
      expect(byDigest(app, followed).spec.image).toBe(`ghcr.io/acme/shop@${a}`)
      expect(hasMoved(app, followed)).toBe(false)
    }
    expect(byDigest(app, found(app, { list: [] }).followed).spec.image).toBe(`ghcr.io/acme/shop@${a}`)
  })

  test('is that of a Release which the status does not know yet, after a crash between the two', () => {
    const made = (number: number, tag: string) => header(number, { tag, image: `ghcr.io/acme/shop@${b}` })
    const app = follows({}, { ...remembered, latestRelease: 1 })
    expect(found(app, { newest: made(2, image) }).followed?.digest).toBe(b)
    expect(found(app, { newest: made(1, image) }).followed?.digest).toBe(a)
    expect(found(app, { newest: made(2, 'ghcr.io/acme/shop:v0') }).followed?.digest).toBe(a)
  })

  test('is nothing new while another tag is named and not yet answered', () => {
    const app = follows({ image: 'ghcr.io/acme/shop:v2' }, remembered)
    const { followed } = found(app)
    expect(followed).toMatchObject({ digest: undefined, problem: undefined, requeueAfterMilliseconds: 250 })
    expect(byDigest(app, followed)).toBe(app)
  })

  test('has changed when the tag means another image than the status says', () => {
    const app = follows({}, remembered)
    expect(hasMoved(app, found(app, { state: { digest: b } }).followed)).toBe(true)
    expect(hasMoved(app, found(app, { state: { digest: a } }).followed)).toBe(false)
    expect(hasMoved(follows(), found(follows(), { state: { digest: a } }).followed)).toBe(true)
  })
})

describe('the status', () => {
  const statusOf = (app: Application, state: Partial<TagState>, list = ['ghcr.io']) =>
    followedStatus(app, found(app, { state, list }).followed, now)

  test('says what the tag means and since when, and the time stays until it moves', () => {
    const app = follows({}, remembered)
    expect(statusOf(app, { digest: a })).toEqual({
      followedTag: remembered.followedTag,
      condition: {
        type: 'Following',
        status: 'True',
        reason: 'TagKnown',
        message: `${image} means ${a} since 2025-12-31T00:00:00.000Z`,
      },
    })
    expect(statusOf(app, { digest: b }).followedTag).toEqual({ image, digest: b, since: now.toISOString() })
  })

  test('says why the registry is not asked, and what runs', () => {
    expect(statusOf(follows({}, remembered), { problem: 'answered 503' })).toEqual({
      followedTag: remembered.followedTag,
      condition: {
        type: 'Following',
        status: 'False',
        reason: 'TagUnreadable',
        message: `the registry ghcr.io answered 503: it is asked again; as last answered, ${image} means ${a} since 2025-12-31T00:00:00.000Z`,
      },
    })
    expect(statusOf(follows(), {}, [])).toMatchObject({ condition: { status: 'False', reason: 'RegistryNotFollowed' } })
    expect(statusOf(follows(), {})).toEqual({})
  })
})
