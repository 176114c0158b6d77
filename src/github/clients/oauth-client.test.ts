// The exchange of codes and refresh tokens against a scripted GitHub, and what errors must never contain.
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { endpointsOf } from '../endpoints.ts'
import { type ScriptedAnswer, scriptedGitHub } from '../testing/scripted-github.ts'
import { createOAuthClient } from './oauth-client.ts'

const clientFor = (url: string) =>
  createOAuthClient({
    endpoints: { host: 'github.test', web: url, api: `${url}/api/v3` },
    clientId: 'Iv23liABC',
    clientSecret: new SecretString('very-secret'),
  })

const tokens: ScriptedAnswer = {
  status: 200,
  body: {
    access_token: 'ghu_abcdefghijklmnopqrstuvwxyz0123456789',
    expires_in: 28800,
    refresh_token: 'ghr_abcdefghijklmnopqrstuvwxyz0123456789',
    refresh_token_expires_in: 15_811_200,
    scope: '',
    token_type: 'bearer',
  },
}
const exchange = { code: 'c0de', codeVerifier: 'v'.repeat(43), redirectUri: 'https://sekisho.test/callback' }

describe('signing in', () => {
  test.each([
    ['github.com', 'https://github.com'],
    ['acme.ghe.com', 'https://acme.ghe.com'],
    ['github.acme.test', 'https://github.acme.test'],
  ])('sends a person to %s with state and an S256 challenge', (host, web) => {
    const client = createOAuthClient({
      endpoints: endpointsOf({ host }),
      clientId: 'Iv23liABC',
      clientSecret: new SecretString('very-secret'),
    })
    const url = new URL(client.authorizeUrl({ state: 's', codeChallenge: 'h', redirectUri: 'https://a/b' }))
    expect(url.origin + url.pathname).toBe(`${web}/login/oauth/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      allow_signup: 'false',
      client_id: 'Iv23liABC',
      state: 's',
      code_challenge: 'h',
      code_challenge_method: 'S256',
      redirect_uri: 'https://a/b',
    })
  })

  test('exchanges a code with its verifier, in the body and never in the URL', async () => {
    await using github = await scriptedGitHub(() => tokens)
    const result = await clientFor(github.url).exchange(exchange)
    expect(github.asked[0]?.path).toBe('/login/oauth/access_token')
    expect(JSON.parse(github.asked[0]?.body ?? '')).toMatchObject({
      code: 'c0de',
      code_verifier: 'v'.repeat(43),
      client_secret: 'very-secret',
      redirect_uri: 'https://sekisho.test/callback',
    })
    expect(result.accessToken.reveal()).toMatch(/^ghu_/)
    expect(Math.round(((result.expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000)).toBe(8)
  })

  test('refreshes with the refresh token', async () => {
    await using github = await scriptedGitHub(() => tokens)
    await clientFor(github.url).refresh(new SecretString('ghr_old'))
    expect(JSON.parse(github.asked[0]?.body ?? '')).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'ghr_old' })
  })

  const failures: readonly (readonly [string, ScriptedAnswer, string])[] = [
    [
      'a used code',
      { status: 200, body: { error: 'bad_verification_code', error_description: 'The code is incorrect', error_uri: 'x' } },
      'unauthenticated',
    ],
    [
      'a wrong client secret',
      { status: 200, body: { error: 'incorrect_client_credentials', error_description: 'wrong', error_uri: 'x' } },
      'invalid_configuration',
    ],
    ['a failing GitHub', { status: 500, body: {} }, 'unavailable'],
    ['an answer without tokens', { status: 200, body: {} }, 'unavailable'],
  ]
  test.each(failures)('reports %s without any secret, and sends one request', async (_name, answer, code) => {
    await using github = await scriptedGitHub(() => answer)
    const client = clientFor(github.url)
    const uses = [() => client.exchange(exchange), () => client.refresh(new SecretString('ghr_old'))]
    for (const [index, use] of uses.entries()) {
      const error = await use().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code })
      const seen = inspect(error, { depth: 10, showHidden: true })
      for (const secret of ['very-secret', 'c0de', 'v'.repeat(43), 'ghr_old']) expect(seen).not.toContain(secret)
      expect(github.asked).toHaveLength(index + 1)
    }
  })

  test('keeps the tokens that GitHub issued when its clock is far behind ours, and does not refresh them by itself', async () => {
    await using github = await scriptedGitHub(() => ({ ...tokens, headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT' } }))
    const result = await clientFor(github.url).exchange(exchange)
    expect(result.expiresAt).toEqual(new Date('2026-01-01T08:00:00Z'))
    expect(github.asked).toHaveLength(1)
  })
})
