import { describe, expect, test } from 'vitest'
import { SecretString } from '../../../lib/secret-string.ts'
import { parseSourcePath, sourceFingerprint, sourceSecret, sourceUrl } from './source-address.ts'

const key = new SecretString('a'.repeat(44))
const identity = { namespace: 'acme-build', build: 'shop-1', commit: 'c'.repeat(40) }

describe('source address', () => {
  test('is the same after a restart and differs by key, namespace, build and commit', () => {
    const secret = sourceSecret(key, identity)
    expect(sourceSecret(key, { ...identity })).toBe(secret)
    const others = [
      sourceSecret(new SecretString('b'.repeat(44)), identity),
      sourceSecret(key, { ...identity, namespace: 'other-build' }),
      sourceSecret(key, { ...identity, build: 'shop-2' }),
      sourceSecret(key, { ...identity, commit: 'd'.repeat(40) }),
    ]
    expect(new Set([secret, ...others]).size).toBe(5)
  })

  test('carries 256 bits and reads back from the path of its URL', () => {
    const secret = sourceSecret(key, identity)
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    const url = new URL(sourceUrl(new URL('http://10.88.0.1:8081'), secret))
    expect(parseSourcePath(`${url.pathname}/info/refs`)).toEqual({ secret, service: 'info/refs' })
    expect(sourceFingerprint(secret)).not.toContain(secret)
  })

  test('other paths are refused', () => {
    const secret = 'A'.repeat(43)
    const paths = [
      `/${secret}/source.git`,
      `/${secret}/source.git/HEAD`,
      `/${secret}/source.git/git-receive-pack`,
      `/../${secret}/source.git/info/refs`,
      '/',
    ]
    for (const path of paths) expect(parseSourcePath(path)).toBeUndefined()
  })
})
