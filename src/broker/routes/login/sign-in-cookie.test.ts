import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { SecretString } from '../../../lib/secret-string.ts'
import { createSignInCookies } from './sign-in-cookie.ts'

/** A browser that keeps the cookies that it is sent. */
function browser() {
  const cookies = new Map<string, string>()
  const reply = {
    setCookie: (name: string, value: string) => void cookies.set(name, value),
    clearCookie: (name: string) => void cookies.delete(name),
  } as unknown as FastifyReply
  return { cookies, reply, request: () => ({ cookies: Object.fromEntries(cookies) }) as unknown as FastifyRequest }
}

let now = 0
const signIns = createSignInCookies(new SecretString('key'), { now: () => new Date(now) })
const signIn = { codeVerifier: 'v'.repeat(43), returnTo: '/tenants/acme' }

test('a sign-in is taken once, in the browser that began it, whatever other tabs do, and within ten minutes', () => {
  const [mine, other] = [browser(), browser()]
  const first = signIns.begin(mine.request(), mine.reply, signIn)
  const second = signIns.begin(mine.request(), mine.reply, { ...signIn, returnTo: '/other' })
  expect([...mine.cookies.values()].join()).not.toContain(signIn.codeVerifier)
  expect(signIns.take(other.request(), other.reply, first)).toBeUndefined()
  expect(signIns.take(mine.request(), mine.reply, first)).toEqual(signIn)
  expect(signIns.take(mine.request(), mine.reply, first)).toBeUndefined()
  now = 600_000
  expect(signIns.take(mine.request(), mine.reply, second)).toBeUndefined()
  expect(mine.cookies.size).toBe(0)
})

test('a cookie of one state does not serve another, nor one of another key', () => {
  const { cookies, reply, request } = browser()
  const [state, wanted] = [signIns.begin(request(), reply, signIn), signIns.begin(request(), reply, signIn)]
  const [first = '', second = ''] = cookies.keys()
  cookies.set(second, cookies.get(first) ?? '')
  expect(signIns.take(request(), reply, wanted)).toBeUndefined()
  const foreign = createSignInCookies(new SecretString('another key'), { now: () => new Date(now) })
  expect(foreign.take(request(), reply, state)).toBeUndefined()
})

test('a browser that begins again and again does not send more and more cookies', () => {
  const { cookies, reply, request } = browser()
  for (let begun = 0; begun < 50; begun += 1) signIns.begin(request(), reply, { ...signIn, returnTo: `/${'a'.repeat(1499)}` })
  expect([...cookies].join('').length).toBeLessThan(24_000)
})
