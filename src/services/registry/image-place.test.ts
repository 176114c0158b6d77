import { describe, expect, test } from 'vitest'
import { placeOfImage } from './image-place.ts'

const place = { registry: '10.88.0.1:5000/apps', aliases: ['registry.local:5000', 'registry.example.com'] }
const digest = `sha256:${'a'.repeat(64)}`

describe('where an image is', () => {
  test.each([
    ['10.88.0.1:5000/apps/acme/shop', 'acme'],
    ['10.88.0.1:5000/apps/acme/shop:1', 'acme'],
    [`10.88.0.1:5000/apps/acme/shop@${digest}`, 'acme'],
    [`10.88.0.1:5000/apps/acme/shop:1@${digest}`, 'acme'],
    ['10.88.0.1:5000/apps/acme/team/shop', 'acme'],
    ['10.88.0.1:5000/apps/acme-inc/shop', 'acme-inc'],
    ['10.88.0.1:5000/APPS/Acme/shop', 'acme'],
    ['registry.local:5000/apps/acme/shop', 'acme'],
    ['REGISTRY.local:5000/apps/acme/shop', 'acme'],
    ['registry.example.com/apps/acme/shop', 'acme'],
    ['registry.example.com:443/apps/acme/shop', 'acme'],
    ['registry.example.com:80/apps/acme/shop', 'acme'],
    // 10.88.0.1 as one number, in octal and in hexadecimal: resolvers accept these.
    ['173539329:5000/apps/acme/shop', 'acme'],
    ['012.88.0.1:5000/apps/acme/shop', 'acme'],
    ['0x0a.88.0.1:5000/apps/acme/shop', 'acme'],
  ])('%s belongs to tenant %s', (image, namespace) => {
    expect(placeOfImage(image, place)).toEqual({ kind: 'tenant', namespace })
  })

  test.each([
    'nginx',
    'nginx:1',
    'library/nginx',
    'apps/acme/shop',
    'docker.io/apps/acme/shop',
    '10.88.0.1:5001/apps/acme/shop',
    '10.88.0.1/apps/acme/shop',
    'registry.example.org/apps/acme/shop',
    '10.88.0.1:5000/cnb/builder',
    '10.88.0.1:5000/appsx/acme/shop',
    'localhost/apps/acme/shop',
  ])('%s is elsewhere', image => {
    expect(placeOfImage(image, place)).toEqual({ kind: 'elsewhere' })
  })

  test.each([
    '10.88.0.1:5000/apps/acme',
    '10.88.0.1:5000/apps/acme/../globex/site',
    '10.88.0.1:5000/apps//acme/shop',
    '10.88.0.1:5000/apps/acme%2fshop',
  ])('%s is the name of no repository', image => {
    expect(placeOfImage(image, place)).toEqual({ kind: 'malformed' })
  })

  test('without a path of its own the registry belongs to tenants as a whole', () => {
    const root = { registry: 'r.example.com', aliases: [] }
    expect(placeOfImage('r.example.com/acme/shop', root)).toEqual({ kind: 'tenant', namespace: 'acme' })
    expect(placeOfImage('r.example.com/acme', root)).toEqual({ kind: 'malformed' })
  })
})
