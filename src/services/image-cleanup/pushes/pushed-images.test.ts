// What builds push, and the one form of repository that is ever touched.
import { describe, expect, test } from 'vitest'
import { foundImage, isBuildRepository, pushedImages } from './pushed-images.ts'

const uid = '6f0c3a52-2c3f-4f55-9d3b-3a1b2c3d4e5f'
const build = (image: string, cache = 'r.example.com/apps/acme/shop:cache-1') => ({
  id: 'build-1',
  key: { namespace: 'acme-build', name: 'shop-1' },
  owner: { namespace: 'acme', name: 'shop', uid },
  pushes: { image, cache },
})

test('a build pushes its image and the cache of its RemoteSync', () => {
  const place = {
    registry: 'r.example.com:5000',
    repository: 'apps/acme/shop',
    namespace: 'acme',
    owner: uid,
    buildId: 'build-1',
    ofPreview: true,
  }
  const pushing = build('r.example.com:5000/apps/acme/shop:shop-1', `r.example.com:5000/apps/acme/shop:cache-${uid}`)
  expect(pushedImages(pushing, 'r.example.com:5000/apps', true)).toEqual([
    { ...place, kind: 'Image', tag: 'shop-1' },
    { ...place, kind: 'Cache', tag: `cache-${uid}` },
  ])
})

describe('nothing else is recorded', () => {
  test.each([
    'other.example.com/apps/acme/shop:1',
    'r.example.com/apps/globex/shop:1',
    'r.example.com/apps/acme-inc/shop:1',
    'r.example.com/apps/acme:1',
    'r.example.com/apps/acme/shop/deep:1',
    'r.example.com/apps/acme/../globex/shop:1',
    'r.example.com/apps/acme/Shop:1',
    'r.example.com/cnb/builder:1',
    'r.example.com/apps/acme/shop',
    'r.example.com/apps/acme/shop:',
    'r.example.com/apps/acme/shop:a b',
    `r.example.com/apps/acme/shop:${'a'.repeat(129)}`,
    '',
  ])('%s', image => {
    expect(pushedImages(build(image, image), 'r.example.com/apps', false)).toEqual([])
  })
})

test.each([
  ['r.example.com/apps', 'acme', 'apps/acme/shop', true],
  ['r.example.com', 'acme', 'acme/shop', true],
  ['r.example.com/a/b', 'acme', 'a/b/acme/shop', true],
  ['r.example.com/apps', 'acme', 'apps/acme/', false],
  ['r.example.com/apps', 'acme', 'apps/acme-inc/shop', false],
  ['r.example.com/apps', 'acme', 'apps/globex/shop', false],
  ['r.example.com/apps', 'acme', 'kpack/builder', false],
  ['r.example.com/apps', 'acme', 'apps/acme/a/b', false],
  ['r.example.com/apps', 'acme', 'acme/shop', false],
])('%s of %s: %s is a repository of builds: %s', (registry, namespace, repository, expected) => {
  expect(isBuildRepository(registry, namespace, repository)).toBe(expected)
})

test('a tag that is found belongs to the RemoteSync that it names as a cache, and otherwise to nobody', () => {
  const place = { registry: 'r', repository: 'apps/acme/shop', namespace: 'acme' }
  expect(foundImage(place, `cache-${uid}`)).toMatchObject({ kind: 'Cache', owner: uid })
  expect(foundImage(place, `cache-dockerfile-${uid}`)).toMatchObject({ kind: 'Cache', owner: uid })
  expect(foundImage(place, 'cache-shop-12345678')).toMatchObject({ kind: 'Image', owner: undefined })
  expect(foundImage(place, 'shop-1')).toMatchObject({ kind: 'Image', owner: undefined })
})
