// The App's client against a scripted GitHub: keys, clocks, and what is refused before and after a request.
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import type { MintRequest } from '../minted-token.ts'
import { pemSigner } from '../signing/pem-signer.ts'
import { type Asked, type ScriptedAnswer, scriptedGitHub } from '../testing/scripted-github.ts'
import { createAppClient } from './app-client.ts'
import { createTokenRevoker } from './token-revoker.ts'

function privateKey(): SecretString {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return new SecretString(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
}

const firstKey = privateKey()
const secondKey = privateKey()
const plainToken = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a'

function clientFor(url: string, keys: readonly SecretString[] = [firstKey], clock: Clock = systemClock) {
  return createAppClient({
    endpoints: { host: 'github.test', web: url, api: url },
    appId: 7,
    clientId: 'Iv23liABC',
    signers: keys.map(pemSigner),
    log: silentLog,
    clock,
  })
}

function minted(overrides: Record<string, unknown> = {}): ScriptedAnswer {
  const body = {
    token: plainToken,
    expires_at: '2030-01-01T00:00:00Z',
    permissions: { contents: 'read', metadata: 'read' },
    repository_selection: 'selected',
    repositories: [{ id: 11, full_name: 'acme/shop' }],
    ...overrides,
  }
  return { status: 201, body }
}

const mintRequest: MintRequest = { installationId: 5, repositoryIds: [11], permissions: { contents: 'read' } }
const app = { id: 7, slug: 'sekisho', name: 'Sekisho', permissions: { contents: 'read' } }

/** The claims of a JWT, unverified: the test made the key itself. */
function claimsIn(token: string): { readonly iss?: unknown; readonly iat?: unknown; readonly exp?: unknown } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** Whether this key signed the JWT. */
function isSignedBy(key: SecretString, jwt: string): boolean {
  const [head, body, signature = ''] = jwt.split('.')
  const signed = Buffer.from(`${head}.${body}`)
  return verify('RSA-SHA256', signed, createPublicKey(key.reveal()), Buffer.from(signature, 'base64url'))
}

const bearer = (asked: Asked | undefined): string => (asked?.headers.authorization ?? '').replace('Bearer ', '')

describe('the App JWT', () => {
  test('is issued by the client id, lives at most ten minutes and begins in the past', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: app }))
    await clientFor(github.url).app()
    const claims = claimsIn(bearer(github.asked[0]))
    const now = Date.now() / 1000
    expect(claims.iss).toBe('Iv23liABC')
    expect(Number(claims.iat)).toBeLessThan(now - 20)
    expect(Number(claims.exp) - Number(claims.iat)).toBeLessThanOrEqual(600)
    expect(github.asked[0]?.headers['x-github-api-version']).toBe('2022-11-28')
  })

  test('is signed by the second key when GitHub refuses the first, and the second is preferred from then on', async () => {
    let accepted = ''
    await using github = await scriptedGitHub((asked, index) => {
      if (index === 1) accepted = bearer(asked).split('.')[2] ?? ''
      return index === 0 ? { status: 401, body: { message: 'Bad credentials' } } : { status: 200, body: app }
    })
    const client = clientFor(github.url, [firstKey, secondKey])
    await client.app()
    await client.app()
    expect(accepted).not.toBe('')
    expect(github.asked).toHaveLength(3)
  })

  test('follows GitHub’s clock when ours is an hour behind', async () => {
    const slow: Clock = { ...systemClock, now: () => new Date(Date.now() - 3_600_000) }
    await using github = await scriptedGitHub(asked =>
      Math.abs(Number(claimsIn(bearer(asked)).exp) - Date.now() / 1000) < 700
        ? { status: 200, body: app }
        : { status: 401, body: { message: "'Expiration time' claim ('exp') must be in the future" } },
    )
    await expect(clientFor(github.url, [firstKey], slow).app()).resolves.toMatchObject({ id: 7 })
  })

  test('an old key that is deleted at GitHub while many mint by it fails none of them', async () => {
    let accepted = 0
    await using github = await scriptedGitHub(asked => {
      const isNew = isSignedBy(secondKey, bearer(asked))
      // From the tenth token on GitHub knows the new key alone.
      if (!isNew && accepted >= 10) return { status: 401, body: { message: 'A JSON web token could not be decoded' } }
      accepted += 1
      return minted()
    })
    const client = clientFor(github.url, [firstKey, secondKey])
    const made = Array.from({ length: 40 }, (_none, at) => client.mint({ ...mintRequest, installationId: at + 1 }))
    expect((await Promise.allSettled(made)).filter(({ status }) => status === 'rejected')).toEqual([])
    expect(accepted).toBe(40)
  })

  test('refused by GitHub for every key is an upstream failure with its reason', async () => {
    await using github = await scriptedGitHub(() => ({ status: 401, body: { message: 'Bad credentials' } }))
    await expect(clientFor(github.url, [firstKey, secondKey]).app()).rejects.toMatchObject({
      code: 'upstream_failed',
      reason: 'CredentialRefused',
    })
    expect(github.asked).toHaveLength(2)
  })
})

describe('minting', () => {
  test('sends exactly the ids and permissions, sorted and without duplicates', async () => {
    await using github = await scriptedGitHub(() => minted())
    const result = await clientFor(github.url).mint({ ...mintRequest, repositoryIds: [11, 3, 11] })
    expect(JSON.parse(github.asked[0]?.body ?? '')).toEqual({ repository_ids: [3, 11], permissions: { contents: 'read' } })
    expect(result.token.reveal()).toBe(plainToken)
    expect(result.repositoryIds).toEqual([11])
    expect(JSON.stringify(result)).not.toContain(plainToken)
  })

  const refusals: readonly (readonly [string, MintRequest])[] = [
    ['no repositories', { ...mintRequest, repositoryIds: [] }],
    ['no names', { installationId: 5, permissions: { contents: 'read' }, repositoryNames: [] }],
    ['no permissions', { ...mintRequest, permissions: {} }],
    ['more than 500 repositories', { ...mintRequest, repositoryIds: Array.from({ length: 501 }, (_, index) => index + 1) }],
    ['an id that is not positive', { ...mintRequest, repositoryIds: [0] }],
    ['a name with an owner', { installationId: 5, permissions: { contents: 'read' }, repositoryNames: ['globex/site'] }],
    ['no installation', { ...mintRequest, installationId: Number.NaN }],
  ]
  test.each(refusals)('refuses %s before any request', async (_name, request) => {
    await using github = await scriptedGitHub(() => minted())
    await expect(clientFor(github.url).mint(request)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(github.asked).toHaveLength(0)
  })

  test('revokes and refuses a token whose reach GitHub does not state', async () => {
    await using github = await scriptedGitHub(asked =>
      asked.method === 'DELETE' ? { status: 204 } : minted({ repositories: undefined, repository_selection: 'all' }),
    )
    await expect(clientFor(github.url).mint(mintRequest)).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(github.asked.map(asked => asked.method)).toEqual(['POST', 'DELETE'])
    expect(bearer(github.asked[1])).toBe(plainToken)
  })

  test('never repeats a mint by itself', async () => {
    await using github = await scriptedGitHub(() => ({ status: 502, body: { message: 'Server Error' } }))
    await expect(clientFor(github.url).mint(mintRequest)).rejects.toMatchObject({ code: 'unavailable' })
    expect(github.asked).toHaveLength(1)
  })

  test('does not wait for one that GitHub has not answered for another installation', async () => {
    const slow = Promise.withResolvers<ScriptedAnswer>()
    await using github = await scriptedGitHub(asked => (asked.path.includes('/installations/5/') ? slow.promise : minted()))
    const client = clientFor(github.url)
    const waiting = client.mint(mintRequest)
    await waitUntil('the first request', seen => seen(github.asked).length === 1)
    expect(await client.mint({ ...mintRequest, installationId: 6 })).toMatchObject({ repositoryIds: [11] })
    slow.resolve(minted())
    expect(await waiting).toMatchObject({ repositoryIds: [11] })
  })

  test('for one installation leaves room for others, and no request is sent beyond that', async () => {
    await using github = await scriptedGitHub(() =>
      minted({ expires_at: new Date(clock.now().getTime() + 3_000_000).toISOString() }),
    )
    const clock = createFakeClock()
    const client = clientFor(github.url, undefined, clock)
    for (let count = 0; count < 45; count++) await client.mint(mintRequest)
    const refused = { code: 'too_many_requests', reason: 'PacedByPlatform', retryAfterSeconds: 10 }
    expect(client.mintRefusal(5)).toMatchObject(refused)
    await expect(client.mint(mintRequest)).rejects.toMatchObject(refused)
    await expect(client.mintOrganizationReader(5)).rejects.toMatchObject(refused)
    expect(github.asked).toHaveLength(45)
    expect(client.mintRefusal(6)).toBeUndefined()
    await client.mint({ ...mintRequest, installationId: 6 })
    await clock.advance(1700)
    await client.mint(mintRequest)
    expect(client.mintRefusal(5)).toMatchObject(refused)
  })

  const answers: readonly (readonly [string, ScriptedAnswer, object])[] = [
    ['404', { status: 404, body: { message: 'Not Found' } }, { code: 'not_found' }],
    [
      '403 suspended',
      { status: 403, body: { message: 'This installation has been suspended' } },
      { code: 'forbidden', reason: 'InstallationSuspended' },
    ],
    [
      '422 permission',
      { status: 422, body: { message: 'The permissions requested are not granted to this installation.' } },
      { code: 'forbidden', reason: 'PermissionNotGranted' },
    ],
    [
      '422 repository',
      { status: 422, body: { message: 'There is at least one repository that does not exist or is not accessible' } },
      { code: 'not_found', reason: 'RepositoryNotAccessible' },
    ],
    [
      '403 secondary limit',
      { status: 403, body: { message: 'You have exceeded a secondary rate limit' }, headers: { 'retry-after': '77' } },
      { code: 'too_many_requests', retryAfterSeconds: 77 },
    ],
    ['429', { status: 429, body: { message: 'slow' }, headers: { 'retry-after': '9' } }, { code: 'too_many_requests' }],
  ]
  test.each(answers)('turns %s into an error with a reason', async (_name, answer, expected) => {
    await using github = await scriptedGitHub(() => answer)
    await expect(clientFor(github.url).mint(mintRequest)).rejects.toMatchObject(expected)
  })

  test('keeps tokens out of every error text', async () => {
    await using github = await scriptedGitHub(() => ({ status: 422, body: { message: `bad ${plainToken} and more` } }))
    const error = await clientFor(github.url)
      .mint(mintRequest)
      .catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('[redacted]')
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(plainToken)
  })
})

describe('a token that reads members', () => {
  test('is refused and revoked when GitHub grants it more', async () => {
    await using github = await scriptedGitHub(asked =>
      asked.method === 'DELETE' ? { status: 204 } : minted({ permissions: { members: 'read', contents: 'read' } }),
    )
    await expect(clientFor(github.url).mintOrganizationReader(5)).rejects.toMatchObject({ reason: 'WiderThanAsked' })
    expect(github.asked.at(-1)?.method).toBe('DELETE')
  })

  test('requests members only', async () => {
    await using github = await scriptedGitHub(() => minted({ permissions: { members: 'read', metadata: 'read' } }))
    await clientFor(github.url).mintOrganizationReader(5)
    expect(JSON.parse(github.asked[0]?.body ?? '')).toEqual({ permissions: { members: 'read' } })
  })
})

describe('revoking', () => {
  test.each([204, 401, 404])('treats %i as revoked', async status => {
    await using github = await scriptedGitHub(() => ({ status, ...(status === 204 ? {} : { body: { message: 'x' } }) }))
    await expect(clientFor(github.url).revoke(new SecretString(plainToken))).resolves.toBeUndefined()
  })

  test.each([
    [204, 'revoked'],
    [401, 'invalid'],
    [404, 'invalid'],
  ] as const)('tells apart what %i says of the token: it is %s', async (status, result) => {
    await using github = await scriptedGitHub(() => ({ status, ...(status === 204 ? {} : { body: { message: 'x' } }) }))
    const revoke = createTokenRevoker({ log: silentLog, clock: systemClock })
    await expect(revoke(github.url, new SecretString(plainToken))).resolves.toBe(result)
  })

  test.each([401, 404])('does not treat %i as revoked for a fresh token', async status => {
    await using github = await scriptedGitHub(() => ({ status, body: { message: 'x' } }))
    const revoked = clientFor(github.url).revoke(new SecretString(plainToken), { fresh: true })
    await expect(revoked).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 })
  })

  test('throws a retryable error while GitHub fails', async () => {
    await using github = await scriptedGitHub(() => ({ status: 503, body: { message: 'x' } }))
    await expect(clientFor(github.url).revoke(new SecretString(plainToken))).rejects.toMatchObject({ code: 'unavailable' })
    expect(github.asked.length).toBeGreaterThan(1)
  })
})

test('a token that GitHub says lives longer than an hour keeps its end, so that it can be refused', async () => {
  const from = new Date('2026-01-01T00:00:00Z')
  const clock: Clock = { ...systemClock, now: () => from }
  const expiresOf = async (expires_at: string, date: string): Promise<string> => {
    await using github = await scriptedGitHub(() => ({ ...minted({ expires_at }), headers: { date } }))
    return (await clientFor(github.url, [firstKey], clock).mint(mintRequest)).expiresAt.toISOString()
  }
  const atGitHub = 'Thu, 01 Jan 2026 00:10:00 GMT'
  // Ten minutes between the clocks do not count.
  expect(await expiresOf('2026-01-01T01:10:00Z', atGitHub)).toBe('2026-01-01T01:00:00.000Z')
  expect(await expiresOf('2026-01-01T03:10:00Z', atGitHub)).toBe('2026-01-01T03:00:00.000Z')
  expect(await expiresOf('2026-01-02T00:00:00Z', 'none')).toBe('2026-01-02T00:00:00.000Z')
})

describe('bounds', () => {
  test('an answer that is too large is refused', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, body: 'x'.repeat(11 * 1024 * 1024) }))
    await expect(clientFor(github.url).app()).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  test('a redirect to another host is not followed', async () => {
    await using elsewhere = await scriptedGitHub(() => ({ status: 200, body: app }))
    await using github = await scriptedGitHub(() => ({ status: 302, headers: { location: `${elsewhere.url}/app` } }))
    await expect(clientFor(github.url).app()).rejects.toMatchObject({ code: 'upstream_failed' })
    expect(elsewhere.asked).toHaveLength(0)
  })

  test.each([
    ['json', { status: 200, body: { content_type: 'json' } }],
    ['form', { status: 200, body: { content_type: 'form' } }],
    [undefined, { status: 200, body: { content_type: 'xml' } }],
    [undefined, { status: 200, body: {} }],
    [undefined, { status: 404, body: { message: 'Not Found' } }],
  ])('the encoding of the webhook: %s', async (encoding, answer) => {
    await using github = await scriptedGitHub(() => answer)
    await expect(clientFor(github.url).webhookEncoding()).resolves.toBe(encoding)
    expect(github.asked.at(-1)?.path).toBe('/app/hook/config')
  })

  test('a missing installation is undefined', async () => {
    await using github = await scriptedGitHub(() => ({ status: 404, body: { message: 'Not Found' } }))
    await expect(clientFor(github.url).installation(99)).resolves.toBeUndefined()
  })
})

describe('webhook deliveries', () => {
  const listed = (id: string, statusCode = '502') =>
    `{"id":${id},"guid":"g","event":"push","delivered_at":"2026-01-01T00:00:00Z","status_code":${statusCode}}`

  test('an id that JavaScript would round is read and redelivered digit by digit', async () => {
    const ids = ['12345678', '9007199254740993', '18446744073709551615']
    await using github = await scriptedGitHub(({ method }) =>
      method === 'GET' ? { status: 200, text: `[${ids.map(id => listed(id)).join(',')}]` } : { status: 202, body: {} },
    )
    const client = clientFor(github.url)
    const { deliveries } = await client.deliveries()
    expect(deliveries.map(({ id }) => id)).toEqual(ids)
    await client.redeliver(ids[1] ?? '')
    expect(github.asked.at(-1)?.path).toBe('/app/hook/deliveries/9007199254740993/attempts')
  })

  test.each(['"x"', '-1', '1.5', 'null', '1e30'])('the id %s is not understood', async id => {
    await using github = await scriptedGitHub(() => ({ status: 200, text: `[${listed(id)}]` }))
    await expect(clientFor(github.url).deliveries()).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  test('a body that is not JSON is not understood', async () => {
    await using github = await scriptedGitHub(() => ({ status: 200, text: '<html>' }))
    await expect(clientFor(github.url).deliveries()).rejects.toMatchObject({ code: 'upstream_failed' })
  })
})

describe('the list of installations', () => {
  const installation = (id: number, account: object | null = { id: 1, login: 'acme', type: 'Organization' }) => ({
    id,
    app_id: 7,
    account,
    suspended_at: null,
    repository_selection: 'all',
    permissions: {},
  })

  test('a page that has not changed is the known one; one on an enterprise, or of a deleted account, does not make the page unreadable', async () => {
    const enterprise = { id: 3, slug: 'octo', name: 'Octo' }
    await using github = await scriptedGitHub(({ headers }) =>
      headers['if-none-match'] === '"one"'
        ? { status: 304 }
        : {
            status: 200,
            body: [installation(1), installation(2, enterprise), installation(3, null)],
            headers: { etag: '"one"', link: '<https://github.test/x?page=2>; rel="next"' },
          },
    )
    const client = clientFor(github.url)
    const page = await client.installationPage(1)
    expect(page).toMatchObject({ etag: '"one"', hasNext: true, installations: [{ id: 1 }] })
    expect(await client.installationPage(1, page)).toBe(page)
    expect(github.asked.map(({ path }) => path)).toEqual(Array(2).fill('/app/installations?per_page=100&page=1'))
  })

  test('a full page is followed by the next one, whatever its links say', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => installation(index + 1))
    await using github = await scriptedGitHub(() => ({ status: 200, body: hundred }))
    expect((await clientFor(github.url).installationPage(1)).hasNext).toBe(true)
  })
})
