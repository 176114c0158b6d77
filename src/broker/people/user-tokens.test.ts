import { expect, test } from 'vitest'
import { createRepositoryClient, createUserClient, type OAuthClient } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { StoredUser } from '../../store/users.ts'
import type { BrokerGitHub } from '../github.ts'
import { memoryUsers } from './testing/memory-users.ts'
import { freshUserToken } from './user-tokens.ts'

const now = new Date('2026-01-01T00:00:00Z')
const clock: Clock = { now: () => now, sleep: async () => {} }
const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * 60_000)

function stored(expiresAt: Date, refreshToken: string | undefined = 'r1'): StoredUser {
  const refresh = refreshToken === undefined ? undefined : new SecretString(refreshToken)
  return {
    host: 'h',
    userId: 1,
    login: 'olivia',
    accessToken: new SecretString('a1'),
    accessTokenExpiresAt: expiresAt,
    refreshToken: refresh,
    groups: [],
  }
}

function github(refresh: OAuthClient['refresh']): BrokerGitHub {
  const endpoints = { host: 'h', web: 'http://h', api: 'http://h/api' }
  return {
    app: () => ({ name: 'default', endpoints, appId: 1, clientId: 'c', slug: 's' }),
    ourApps: () => ({ endpoints, signInAppId: 1, appIds: new Set([1]) }),
    oauth: () => ({ authorizeUrl: () => '', exchange: refresh as never, refresh }),
    oauthOf: () => ({ authorizeUrl: () => '', exchange: refresh as never, refresh }),
    userClient: (_host, token) => createUserClient({ endpoints, token, log: silentLog, clock }),
    repositoryClient: (_host, token) => createRepositoryClient({ endpoints, token, log: silentLog, clock }),
  }
}

/** GitHub's rule: a refresh token works once. */
function singleUse(): { readonly refresh: OAuthClient['refresh']; readonly used: string[] } {
  const used: string[] = []
  const refresh: OAuthClient['refresh'] = async token => {
    if (used.includes(token.reveal())) throw new AppError('unauthenticated', 'used up')
    used.push(token.reveal())
    const count = used.length + 1
    return {
      accessToken: new SecretString(`a${count}`),
      expiresAt: inMinutes(480),
      refreshToken: new SecretString(`r${count}`),
      refreshTokenExpiresAt: undefined,
    }
  }
  return { refresh, used }
}

test('a token that expires later is used as it is', async () => {
  const { refresh, used } = singleUse()
  const token = await freshUserToken({ users: memoryUsers(stored(inMinutes(60))), github: github(refresh), clock }, 'h', 1)
  expect([token.reveal(), used]).toEqual(['a1', []])
})

test('many at once refresh once, and the new pair is stored', async () => {
  const { refresh, used } = singleUse()
  const users = memoryUsers(stored(inMinutes(1)))
  const deps = { users, github: github(refresh), clock }
  const tokens = await Promise.all(Array.from({ length: 10 }, () => freshUserToken(deps, 'h', 1)))
  expect(new Set(tokens.map(token => token.reveal()))).toEqual(new Set(['a2']))
  expect(used).toEqual(['r1'])
  expect((await users.find('h', 1))?.refreshToken?.reveal()).toBe('r2')
})

test('a person without a refresh token, or unknown here, has to sign in again', async () => {
  const { refresh } = singleUse()
  const { refreshToken: _none, ...bare } = stored(inMinutes(1))
  for (const user of [bare, undefined])
    await expect(freshUserToken({ users: memoryUsers(user), github: github(refresh), clock }, 'h', 1)).rejects.toMatchObject({
      code: 'unauthenticated',
    })
})
