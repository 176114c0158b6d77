import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { SecretString } from '../lib/secret-string.ts'
import type { Session, Sessions } from '../store/sessions.ts'
import { createPersonSessions, sessionCookie } from './sessions.ts'

const clock = { now: () => new Date('2026-01-01T00:00:00Z'), sleep: async () => {} }
const olivia = { host: 'github.com', userId: 1, login: 'olivia' }

/** The part of the store that sessions use, in memory. */
function memorySessions(): Sessions & { readonly held: Map<string, Session> } {
  const held = new Map<string, Session>()
  let made = 0
  const unused = (): never => {
    throw new Error('not used here')
  }
  return {
    held,
    create: async session => {
      const handle = `handle-${++made}-${'x'.repeat(30)}`
      held.set(handle, { ...session, createdAt: clock.now() })
      return new SecretString(handle)
    },
    find: async handle => held.get(handle),
    revoke: async handle => void held.delete(handle),
    createLoginState: unused,
    takeLoginState: unused,
    useOnce: unused,
    revokeAllOf: unused,
    people: unused,
    countOf: unused,
    deleteExpired: unused,
  }
}

type Cookie = { readonly value: string; readonly attributes: Readonly<Record<string, unknown>> }

/** A browser that keeps the cookies that it is sent. */
function browser() {
  const cookies = new Map<string, Cookie>()
  const written: string[] = []
  const reply = {
    setCookie: (name: string, value: string, attributes: Cookie['attributes']) => {
      written.push(name)
      cookies.set(name, { value, attributes })
    },
    clearCookie: (name: string) => cookies.delete(name),
  } as unknown as FastifyReply
  const request = () =>
    ({ cookies: Object.fromEntries([...cookies].map(([name, { value }]) => [name, value])) }) as unknown as FastifyRequest
  return { cookies, written, reply, request }
}

test('a session is in a cookie of this host only, and a new one ends the former', async () => {
  const store = memorySessions()
  let halted = false
  const sessions = createPersonSessions({ sessions: store, clock, lifeHours: 12, isHalted: () => halted })
  const { cookies, reply, request } = browser()
  await sessions.begin(request(), reply, olivia)
  expect(cookies.get(sessionCookie)?.attributes).toEqual({
    path: '/',
    secure: true,
    httpOnly: true,
    sameSite: 'lax',
    maxAge: 43_200,
  })
  const first = await sessions.personOf(request())
  expect(first).toMatchObject({ ...olivia, subject: 'github|github.com|1' })
  const old = request()
  await sessions.begin(request(), reply, { ...olivia, userId: 2, login: 'noah' })
  expect(await sessions.personOf(old)).toBeUndefined()
  const second = await sessions.personOf(request())
  expect(second?.login).toBe('noah')
  // Of a person who is halted no session counts, whether or not it is ended by then.
  halted = true
  expect(await sessions.personOf(request())).toBeUndefined()
  await expect(sessions.requireForm(request(), second?.csrf)).rejects.toMatchObject({ code: 'unauthenticated' })
  halted = false
  await expect(sessions.requireForm(request(), first?.csrf)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(sessions.requireForm(request(), second?.csrf)).resolves.toMatchObject({ login: 'noah' })
  await sessions.end(request(), reply)
  expect(store.held.size).toBe(0)
  expect(cookies.size).toBe(0)
})
