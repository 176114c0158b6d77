// What each answer of a registry means: absence only where it is certain.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RegistryReply } from '../registry/registry-reader.ts'
import { createRegistryImages } from './registry-images.ts'

const failed: RegistryReply = { kind: 'failed', message: 'connect ECONNREFUSED' }
const answered = (status: number, body?: unknown, more = false): RegistryReply => {
  const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { kind: 'answered', status, bytes, more }
}
const registry = (reply: RegistryReply) => createRegistryImages({ read: async () => reply, remove: async () => reply })
const repository = 'apps/acme/shop'
const uncertain = { kind: 'doubt', unavailable: false }
const unavailable = { kind: 'doubt', unavailable: true }

describe('the tags of a repository', () => {
  test.each([
    [answered(200, { name: repository, tags: ['a', 'b'] }), { kind: 'tags', tags: ['a', 'b'] }],
    [answered(200, { name: repository, tags: null }), { kind: 'tags', tags: [] }],
    [answered(404, { errors: [{ code: 'NAME_UNKNOWN' }] }), { kind: 'tags', tags: [] }],
    [answered(200, { name: repository, tags: ['a'] }, true), uncertain],
    [answered(200, { name: 'apps/globex/site', tags: ['a'] }), uncertain],
    [answered(200, `{"name":"${repository}","tags":["a","b`), uncertain],
    [answered(200), uncertain],
    [answered(200, '<html>'), uncertain],
    [answered(401), uncertain],
    [answered(302), uncertain],
    [answered(429), unavailable],
    [answered(500), unavailable],
    [answered(503), unavailable],
    [failed, unavailable],
  ])('%o', async (reply, expected) => {
    expect(await registry(reply).tagsOf(repository)).toMatchObject(expected)
  })
})

describe('what a tag means', () => {
  const manifest = '{"schemaVersion":2}'
  const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`
  test.each([
    [answered(200, manifest), { kind: 'digest', digest }],
    [answered(404), { kind: 'absent' }],
    [answered(200), uncertain],
    [answered(401), uncertain],
    [answered(502), unavailable],
    [failed, unavailable],
  ])('%o', async (reply, expected) => {
    expect(await registry(reply).digestOf(repository, 'a')).toMatchObject(expected)
  })
})

describe('a deletion', () => {
  const byRegistry = (status: number) => ({ kind: 'refused', status, byRegistry: true })
  const byAccount = (status: number) => ({ kind: 'refused', status, byRegistry: false })
  test.each([
    [answered(202), { kind: 'deleted' }],
    [answered(204), { kind: 'deleted' }],
    [answered(404), { kind: 'deleted' }],
    [answered(405), byRegistry(405)],
    [answered(400), byRegistry(400)],
    [answered(501), byRegistry(501)],
    [answered(307), byRegistry(307)],
    [answered(401), byAccount(401)],
    [answered(403), byAccount(403)],
    [answered(429), unavailable],
    [answered(500), unavailable],
    [failed, unavailable],
  ])('%o', async (reply, expected) => {
    expect(await registry(reply).remove(repository, `sha256:${'a'.repeat(64)}`)).toMatchObject(expected)
  })
})
