// Which names text has: as objects write images, and as hostile text of any form.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createImageNames, type ImageNames } from './named-images.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

function namesIn(...texts: readonly string[]): ImageNames {
  const { add, names } = createImageNames()
  for (const text of texts) add(text)
  return names()
}

test.each([
  `127.0.0.1:5000/apps/acme/shop:shop-1`,
  `registry.example.com/apps/acme/shop:shop-1`,
  `REGISTRY.example.com:443/apps/acme/shop:shop-1`,
  `localhost/apps/acme/shop:shop-1@${digest}`,
  `docker-pullable://127.0.0.1:5000/apps/acme/shop:shop-1`,
  JSON.stringify({ image: 'r/apps/acme/shop:shop-1' }),
])('a reference by tag in %s', text => {
  expect(namesIn(text).references).toContain('apps/acme/shop:shop-1')
})

test('a digest is found wherever it stands, and only whole', () => {
  for (const text of [
    `{"digest":"${digest}"}`,
    `shop@${digest}`,
    `acme/shop@${digest}`,
    `@${digest}`,
    `r/apps/acme/@${digest}`,
    `docker-pullable://r/apps/acme/shop@${digest}`,
  ])
    expect(namesIn(text).digests, text).toEqual(new Set([digest]))
  expect(namesIn(`"${digest}\\n"`, `x${digest}`).digests).toEqual(new Set([digest]))
  expect(namesIn(digest.slice(0, -1)).digests).toEqual(new Set())
})

test.each([
  `10.0.0.1:5000/apps/acme/shop@${digest}`,
  `registry.example.com/apps/acme/shop:shop-1@${digest}`,
  JSON.stringify({ imageID: `r/apps/acme/shop@${digest}` }),
])('a digest in a repository means that repository: %s', text => {
  const { digests, pinned } = namesIn(text)
  expect(digests).toEqual(new Set())
  const [[found, names] = []] = pinned
  expect(found).toBe(digest)
  expect([...(names ?? [])].every(name => name.endsWith('/apps/acme/shop'))).toBe(true)
})

test('another tag, a longer one or another path is not it', () => {
  const names = namesIn('r/apps/acme/shop:shop-10', 'r/apps/acme/shop', 'r/apps/acme-inc/shop:shop-1')
  expect(names.references).not.toContain('apps/acme/shop:shop-1')
})

test('what an object names is found in any text around it', () => {
  const around = fc.string({ unit: 'grapheme' }).map(text => JSON.stringify({ annotation: text }).slice(0, -1))
  fc.assert(
    fc.property(around, fc.string(), (before, after) => {
      const text = `${before},"image":"host:5000/apps/acme/shop:shop-1@${digest}","x":${JSON.stringify(after)}}`
      const { pinned, references } = namesIn(text)
      expect(pinned.get(digest)).toEqual(new Set(['host:5000/apps/acme/shop']))
      expect(references).toContain('apps/acme/shop:shop-1')
    }),
  )
})

test('a megabyte of text that almost is a reference is read once', () => {
  for (const piece of ['a', 'a/', '/', 'a.', 'sha256:', 'a:', `@${digest}`, `a/b/c@${digest}`])
    expect(namesIn(piece.repeat(1_048_576 / piece.length)).references.size).toBeLessThan(1000)
})
