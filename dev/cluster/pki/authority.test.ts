// Certificates have the right usage and names, are renewed in time, and their keys are readable by the owner only.
// They are read by Node, which shares no code with the program that made them.
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureSigningKey, openAuthority, stillServes } from './authority.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pki-'))
})

afterEach(() => rm(folder, { recursive: true }))

const request = {
  commonName: 'node/a',
  organizations: ['one', 'two'],
  usage: 'server',
  names: ['a.test'],
  addresses: ['10.88.0.1'],
} as const

test('a leaf has subject, names and one usage, is not an authority, and its key is private', async () => {
  const authority = await openAuthority(folder, 'ca', 'test authority')
  const files = await authority.leaf('leaf', request)
  const leaf = new X509Certificate(await readFile(files.certificate))
  expect(leaf.verify(new X509Certificate(authority.pem).publicKey)).toBe(true)
  expect(leaf.subject).toBe('O=one\nO=two\nCN=node/a')
  expect(leaf.subjectAltName).toBe('DNS:a.test, IP Address:10.88.0.1')
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(leaf.ca).toBe(false)
  expect((await stat(files.key)).mode & 0o777).toBe(0o600)
})

test('a leaf is kept while it is valid and recreated for other names', async () => {
  const authority = await openAuthority(folder, 'ca', 'test authority')
  const serial = async (change: object = {}): Promise<string> => {
    const files = await (await openAuthority(folder, 'ca', 'test authority')).leaf('leaf', { ...request, ...change })
    return new X509Certificate(await readFile(files.certificate)).serialNumber
  }
  const first = await serial()
  expect(await serial()).toBe(first)
  expect(await serial({ names: ['b.test'] })).not.toBe(first)
  expect(await readFile(authority.files.certificate, 'utf8')).toBe(authority.pem)
})

test('a leaf is not valid in the month before its end, or under another authority', async () => {
  const authority = await openAuthority(folder, 'ca', 'test authority')
  const other = await openAuthority(folder, 'other', 'test authority')
  const pem = await readFile((await authority.leaf('leaf', request)).certificate, 'utf8')
  const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000)
  expect(stillServes(pem, authority.pem, request, inDays(0))).toBe(true)
  expect(stillServes(pem, authority.pem, request, inDays(336))).toBe(false)
  expect(stillServes(pem, other.pem, request, inDays(0))).toBe(false)
})

test('the signing key is made once, with its public half beside it', async () => {
  const files = await ensureSigningKey(folder)
  const key = await readFile(files.privateKey, 'utf8')
  await ensureSigningKey(folder)
  expect(await readFile(files.privateKey, 'utf8')).toBe(key)
  expect(await readFile(files.publicKey, 'utf8')).toContain('BEGIN PUBLIC KEY')
})
