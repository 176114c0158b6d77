// The routes of platform admins alone: refused to people who are signed in and to callers without a token, before anything is
// read or written.
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import { type Mode, modes } from '../../../api/names.ts'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import { AppError } from '../../../lib/errors.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { createWebServer, type WebServer } from '../../../web/server.ts'
import type { LossDeps } from '../../audit/loss-deps.ts'
import { registerAuditAcknowledge } from './audit/acknowledge.ts'
import { registerKeys } from './keys.ts'

const administrator = 'token-of-a-platform-admin'
const person = 'token-of-somebody-else'
const clock = movableClock()
const touched: string[] = []
const servers = new Map<Mode, WebServer>()

/** Whatever a route of a refused caller would use. */
const untouchable = new Proxy({} as LossDeps, {
  get(_target, name) {
    touched.push(String(name))
    throw new AppError('not_found', 'there is no loss')
  },
})

async function serve(mode: Mode): Promise<WebServer> {
  const server = await createWebServer({ log: silentLog })
  const verifyIdToken = async (token: string): Promise<IdentityClaims> => {
    const subject = token === administrator ? 'admin' : 'person'
    return { subject, host: 'h', userId: 1, login: 'x', groups: [], tokenId: undefined, expiresAt: new Date(0) }
  }
  const platformAdmins = { includes: async ({ subject }: { readonly subject: string }) => subject === 'admin' }
  const recorded = {
    details: { keys: ['one'], rows: [3], unknownKey: 0 },
    at: '2026-01-01T00:00:00.000Z',
  } as unknown as AuditEntry
  const store = {
    audit: {
      list: async () => {
        touched.push('audit')
        return [recorded]
      },
    },
    resealing: {
      count: async () => {
        touched.push('count')
        return { keys: ['one'], columns: [{ name: 'users', rows: [2], unknownKey: 0 }] }
      },
    },
  }
  registerKeys(server, { mode, verifyIdToken, platformAdmins, clock, store })
  registerAuditAcknowledge(server, { verifyIdToken, platformAdmins, losses: untouchable })
  return server
}

beforeAll(async () => {
  for (const mode of modes) servers.set(mode, await serve(mode))
})
afterAll(async () => {
  for (const server of servers.values()) await server.close()
})

function ask(request: InjectOptions, mode: Mode = 'production') {
  return servers.get(mode)?.inject(request) ?? expect.unreachable()
}

const routes = [
  { method: 'GET', url: '/api/v1/keys' },
  { method: 'POST', url: '/api/v1/audit/acknowledge', payload: { reason: 'an attack', statements: [] } },
] as const

describe.each(routes)('$method $url', route => {
  test.each([
    ['a person who is not a platform admin', { authorization: `Bearer ${person}` }, 403],
    ['nobody', {}, 401],
    ['a cookie', { cookie: '__Host-sekisho-session=x' }, 401],
  ] as const)('refuses %s, and touches nothing', async (_who, headers, status) => {
    touched.length = 0
    expect((await ask({ ...route, headers })).statusCode).toBe(status)
    expect(touched).toEqual([])
  })

  test('lets a platform admin pass', async () => {
    touched.length = 0
    const { statusCode } = await ask({ ...route, headers: { authorization: `Bearer ${administrator}` } })
    expect([401, 403]).not.toContain(statusCode)
    expect(touched).not.toEqual([])
  })
})

test.each([
  ['production', 1],
  ['standalone', 0],
] as const)('one keyring of both processes is a problem in the %s form: %i', async (form, problems) => {
  const answer = await ask({ url: '/api/v1/keys', headers: { authorization: `Bearer ${administrator}` } }, form)
  expect(answer.json()).toMatchObject({ processes: [{ process: 'broker' }, { process: 'controllers' }] })
  expect(answer.json().problems).toHaveLength(problems)
})
