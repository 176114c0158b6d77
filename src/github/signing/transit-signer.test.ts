// The App's client with a key that only another process has: the key server signs, and GitHub accepts what it signed.
import { fork } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KeyServerFacts } from '../../../test/fixtures/key-server.ts'
import { systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { createAppClient } from '../clients/app-client.ts'
import { type ScriptedAnswer, scriptedGitHub } from '../testing/scripted-github.ts'
import { pemSigner } from './pem-signer.ts'
import type { Signer } from './signer.ts'
import { transitSigner } from './transit-signer.ts'

const token = new SecretString('hvs.a-token-that-may-sign')
let stop: () => Promise<unknown>
let facts: KeyServerFacts
beforeAll(async () => {
  const child = fork(new URL('../../../test/fixtures/key-server.ts', import.meta.url), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  stop = async () => {
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  }
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the key server ended')))
  const [line] = (await Promise.race([once(child.stdout ?? child, 'data'), gone])) as [Buffer]
  facts = JSON.parse(line.toString()) as KeyServerFacts
})
afterAll(() => stop?.())

const signerWith = (change: Partial<Parameters<typeof transitSigner>[0]> = {}): Signer =>
  transitSigner({ ...facts, mount: 'transit', key: 'github-app', token, ...change })

const app: ScriptedAnswer = { status: 200, body: { id: 7, slug: 's', name: 'S', permissions: {} } }

function clientOf(url: string, signers: readonly Signer[], clock = systemClock) {
  const endpoints = { host: 'github.test', web: url, api: url }
  return createAppClient({ endpoints, appId: 7, clientId: 'Iv23liABC', signers, log: silentLog, clock })
}

function isSigned(jwt: string): boolean {
  const [head, body, signature = ''] = jwt.split('.')
  return verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${body}`),
    createPublicKey(facts.publicKey),
    Buffer.from(signature, 'base64url'),
  )
}

test('GitHub gets a JWT that the key server signed, the same for some minutes', async () => {
  await using github = await scriptedGitHub(() => app)
  const clock = createFakeClock(Date.now())
  let signatures = 0
  const signer = signerWith()
  const counted: Signer = {
    isRemote: true,
    sign(bytes) {
      signatures += 1
      return signer.sign(bytes)
    },
  }
  const client = clientOf(github.url, [counted], clock)
  for (let asked = 0; asked < 3; asked++) await client.app()
  expect(signatures).toBe(1)
  await clock.advance(240_000)
  await client.app()
  expect(signatures).toBe(2)
  const jwts = github.asked.map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''))
  expect(jwts.map(isSigned)).toEqual([true, true, true, true])
  const claims = JSON.parse(Buffer.from(jwts[0]?.split('.')[1] ?? '', 'base64url').toString())
  expect(claims).toMatchObject({ iss: 'Iv23liABC', exp: claims.iat + 600 })
})

test('a clock that GitHub finds wrong is corrected in a new JWT', async () => {
  const ahead = new Date(Date.now() + 600_000).toUTCString()
  await using github = await scriptedGitHub((_asked, index) =>
    index === 0 ? { status: 401, body: { message: "'exp' is in the past" }, headers: { date: ahead } } : app,
  )
  await clientOf(github.url, [signerWith()]).app()
  const [before, after] = github.asked.map(({ headers }) =>
    JSON.parse(Buffer.from((headers.authorization ?? '').split('.')[1] ?? '', 'base64url').toString()),
  )
  expect(after.iat - before.iat).toBeGreaterThan(590)
})

test.each<[string, Parameters<typeof signerWith>[0], object]>([
  [
    'a token that may not sign',
    { token: new SecretString('hvs.other') },
    { reason: 'SignerRefused', message: expect.stringContaining('capability update') },
  ],
  [
    'a key that does not exist',
    { key: 'none' },
    { reason: 'SignerRefused', message: expect.stringContaining('spec.signer.transit') },
  ],
  ['a key that is not RSA', { key: 'elliptic' }, { reason: 'SignerRefused', message: expect.stringContaining('rsa-2048') }],
  ['another address', { address: 'https://127.0.0.1:9' }, { code: 'unavailable' }],
])('%s is said, and GitHub is not asked', async (_what, change, expected) => {
  await using github = await scriptedGitHub(() => app)
  const client = clientOf(github.url, [signerWith(change)])
  await expect(client.app()).rejects.toMatchObject(expected)
  expect(github.asked).toEqual([])
})

test('while nobody signs, the refusal is known before a token is asked for, and ends with a signature', async () => {
  await using github = await scriptedGitHub(() => app)
  const clock = createFakeClock(Date.now())
  let isDown = true
  let asked = 0
  const [down, up] = [signerWith({ address: 'https://127.0.0.1:9' }), signerWith()]
  const signer: Signer = {
    isRemote: true,
    sign(bytes) {
      asked += 1
      return (isDown ? down : up).sign(bytes)
    },
  }
  const client = clientOf(github.url, [signer], clock)
  expect(client.mintRefusal(5)).toBeUndefined()
  const failed = await Promise.allSettled([client.app(), client.app(), client.app()])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(client.mintRefusal(5)).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('signer'),
    retryAfterSeconds: 5,
  })
  const before = asked
  await expect(client.mint({ installationId: 5, repositoryIds: [1], permissions: { contents: 'read' } })).rejects.toThrow(
    'signer',
  )
  expect([asked, github.asked]).toEqual([before, []])
  // Each failure makes the next pause longer, up to half a minute.
  for (const seconds of [5, 5, 8, 16, 30, 30]) {
    await clock.advance(30_000)
    await expect(client.app()).rejects.toThrow('signer')
    expect(client.mintRefusal(5)?.retryAfterSeconds).toBe(seconds)
  }
  isDown = false
  await clock.advance(30_000)
  await client.app()
  expect(client.mintRefusal(5)).toBeUndefined()
})

test('a server whose certificate nobody vouches for gets no token', async () => {
  const { certificateAuthority: _, ...unknown } = facts
  const signer = transitSigner({ ...unknown, mount: 'transit', key: 'github-app', token })
  await expect(signer.sign(Buffer.from('x'))).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('certificate'),
  })
})

test('no error has the token of the key server', async () => {
  for (const change of [{ key: 'none' }, { address: 'https://127.0.0.1:9' }]) {
    const error = await signerWith(change)
      .sign(Buffer.from('x'))
      .catch((failure: unknown) => failure)
    expect(`${error} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain('hvs.')
  }
})

test('a text that is no RSA key in PEM is named as such, and not quoted', async () => {
  for (const pem of ['-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXRleHQ=\n-----END PRIVATE KEY-----\n', 'secret-text']) {
    const error = await pemSigner(new SecretString(pem))
      .sign(Buffer.from('x'))
      .catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'invalid_configuration', reason: 'PrivateKeyUnreadable' })
    expect(`${error} ${(error as Error).stack}`).not.toMatch(/secret-text|c2VjcmV0/)
  }
})
