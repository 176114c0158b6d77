import { expect, test } from 'vitest'
import { digestOf, isDigest, pinnedImage, withoutTag } from './image-digest.ts'

const digest = `sha256:${'a'.repeat(64)}`

test.each([digest.slice(0, -1), `${digest}a`, digest.replaceAll('a', 'A'), `sha512:${'a'.repeat(64)}`, `${digest}\n`])(
  '%j is no digest',
  text => {
    expect(isDigest(text)).toBe(false)
    expect(digestOf(`registry/app@${text}`)).toBeUndefined()
  },
)

test('a reference by digest names its repository and its content', () => {
  expect(isDigest(digest)).toBe(true)
  expect(digestOf(`app@${digest}`)).toBe(digest)
  expect(pinnedImage(`10.0.0.1:5000/apps/acme/shop@${digest}`)).toEqual({ repository: 'apps/acme/shop', digest })
})

test.each([`shop@${digest}`, 'registry/shop:v1', `registry/Shop@${digest}`, `registry/shop:v1@${digest}`])(
  '%j is not a pinned image of a registry',
  reference => expect(pinnedImage(reference)).toBeUndefined(),
)

test.each([
  [`10.0.0.1:5000/cnb/builder:clusterbuilder-x@${digest}`, `10.0.0.1:5000/cnb/builder@${digest}`],
  [`10.0.0.1:5000/cnb/builder@${digest}`, `10.0.0.1:5000/cnb/builder@${digest}`],
  ['10.0.0.1:5000/cnb/builder:1', '10.0.0.1:5000/cnb/builder:1'],
])('%s has no tag as %s', (reference, without) => expect(withoutTag(reference)).toBe(without))
