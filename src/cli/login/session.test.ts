// A refresh whose answer is lost or not good does not end the login: the refresh token is sent again, or the next one is kept.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { type CachedTokens, readTokens, writeTokens } from '../files/token-cache.ts'
import type { SessionDeps } from './login-state.ts'
import { refreshTokens } from './session.ts'

const issuer = 'https://issuer.test'
let folder = ''
let sent: readonly string[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-session-'))
  sent = []
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** An issuer that answers each refresh with the next of the answers. */
function depsWith(...answers: readonly (() => Response)[]): SessionDeps {
  const rest = [...answers]
  const fetch = async (input: URL | string | Request, init?: RequestInit): Promise<Response> => {
    if (init?.method !== 'POST')
      return Response.json({ issuer, token_endpoint: `${issuer}/oidc/token`, jwks_uri: `${issuer}/jwks` })
    sent = [...sent, new URLSearchParams(String(init.body)).get('refresh_token') ?? '']
    return rest.shift()?.() ?? expect.unreachable(String(input))
  }
  const connection = { fetch: fetch as typeof globalThis.fetch, open: fetch, clockOffset: () => 0, close: async () => {} }
  const settings = {
    issuer,
    clientId: 'kubernetes',
    caFile: undefined,
    folders: { tokens: folder, configFile: '', state: folder },
  }
  return { settings, connection: async () => connection, clock: systemClock, say: () => {} }
}

const latest: CachedTokens = { issuer, clientId: 'kubernetes', idToken: 'old', expiresAt: 1, refreshToken: 'first' }
const lost = (): Response => {
  throw new AppError('unavailable', 'no answer')
}
/** As when the ID token seems to be of another time. */
const notGood = (): Response =>
  Response.json({ access_token: 'a', token_type: 'bearer', id_token: 'x.y.z', refresh_token: 'second' })
const used = (): Response => Response.json({ error: 'invalid_grant' }, { status: 400 })

async function refreshed(deps: SessionDeps): Promise<{ readonly code: unknown; readonly kept: string | undefined }> {
  await writeTokens(deps.settings, latest)
  const code = await refreshTokens(deps, latest, 'first').catch(error => (error as AppError).code)
  return { code, kept: (await readTokens(deps.settings))?.refreshToken }
}

test('a lost answer is asked for once more with the same token', async () => {
  expect(await refreshed(depsWith(lost, lost))).toEqual({ code: 'unavailable', kept: 'first' })
  expect(sent).toEqual(['first', 'first'])
})

test('the next refresh token is kept when the answer is not good otherwise', async () => {
  expect(await refreshed(depsWith(notGood))).toEqual({ code: 'upstream_failed', kept: 'second' })
})

test('a login that has ended is forgotten', async () => {
  expect(await refreshed(depsWith(used))).toEqual({ code: 'unauthenticated', kept: undefined })
})
