// Who is at the browser: session and login cookies, and the cross-site secret of forms. Ids are random, stored hashed by the store.
// Cookies are `__Host-`: https only, this host only, whole site (RFC 6265bis §4.1.3.2), so that no other host can plant one.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { userSubject } from '../api/names.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { Sessions } from '../store/sessions.ts'

export const sessionCookie = '__Host-sekisho-session'
export const browserCookie = '__Host-sekisho-browser'

export type Person = {
  readonly host: string
  readonly userId: number
  /** For display only. */
  readonly login: string
  readonly subject: string
  /** Goes into every form as `csrf`. */
  readonly csrf: string
}

export type PersonSessions = {
  readonly personOf: (request: FastifyRequest) => Promise<Person | undefined>
  /** Throws `unauthenticated`. */
  readonly requirePerson: (request: FastifyRequest) => Promise<Person>
  /** As `requirePerson`, and the form must carry the person's secret; throws `forbidden` otherwise. */
  readonly requireForm: (request: FastifyRequest, csrf: unknown) => Promise<Person>
  /** Always a new session: an older one of this browser ends. */
  readonly begin: (
    request: FastifyRequest,
    reply: FastifyReply,
    person: { readonly host: string; readonly userId: number; readonly login: string },
  ) => Promise<void>
  readonly end: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Ties what is begun in this browser to it: a hash of a secret that only this browser holds. Sets the cookie, or makes it live on. */
  readonly bindBrowser: (request: FastifyRequest, reply: FastifyReply) => string
  readonly isBoundBrowser: (request: FastifyRequest, binding: unknown) => boolean
}

/** The attributes of every cookie of ours; `__Host-` demands the first two of them. */
export const cookieAttributes = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const
/** Far longer than a sign-in lives. */
const browserCookieSeconds = 3600
const handlePattern = /^[A-Za-z0-9_-]{20,200}$/

function handleIn(request: FastifyRequest, name: string): string | undefined {
  const value = request.cookies[name]
  return value !== undefined && handlePattern.test(value) ? value : undefined
}

function hashed(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** Derived from the session's secret: nothing to store, gone with the session, useless to whoever reads it without the cookie. */
function formSecret(handle: string): string {
  return createHmac('sha256', handle).update('sekisho form').digest('base64url')
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

export function createPersonSessions(deps: {
  readonly sessions: Sessions
  readonly clock: Clock
  readonly lifeHours: number
}): PersonSessions {
  const { sessions, clock } = deps
  const lifeSeconds = deps.lifeHours * 3600

  const personOf = async (request: FastifyRequest): Promise<Person | undefined> => {
    const handle = handleIn(request, sessionCookie)
    const session = handle === undefined ? undefined : await sessions.find(handle)
    if (handle === undefined || session === undefined) return undefined
    const { host, userId, login } = session
    return { host, userId, login, subject: userSubject(host, userId), csrf: formSecret(handle) }
  }
  const requirePerson = async (request: FastifyRequest): Promise<Person> => {
    const person = await personOf(request)
    if (person === undefined) throw new AppError('unauthenticated', 'sign in first')
    return person
  }

  return {
    personOf,
    requirePerson,
    async requireForm(request, csrf) {
      const person = await requirePerson(request)
      if (typeof csrf === 'string' && sameText(csrf, person.csrf)) return person
      throw new AppError('forbidden', 'the form is out of date: go back, reload the page and try again')
    },
    async begin(request, reply, person) {
      const former = handleIn(request, sessionCookie)
      if (former !== undefined) await sessions.revoke(former)
      const expiresAt = new Date(clock.now().getTime() + lifeSeconds * 1000)
      const handle: SecretString = await sessions.create({ ...person, expiresAt, data: {} })
      reply.setCookie(sessionCookie, handle.reveal(), { ...cookieAttributes, maxAge: lifeSeconds })
    },
    async end(request, reply) {
      const handle = handleIn(request, sessionCookie)
      if (handle !== undefined) await sessions.revoke(handle)
      for (const name of [sessionCookie, browserCookie]) reply.clearCookie(name, cookieAttributes)
    },
    bindBrowser(request, reply) {
      const secret = handleIn(request, browserCookie) ?? randomBytes(32).toString('base64url')
      // Also one that is there already: it must outlive what begins now.
      reply.setCookie(browserCookie, secret, { ...cookieAttributes, maxAge: browserCookieSeconds })
      return hashed(secret)
    },
    isBoundBrowser(request, binding) {
      const secret = handleIn(request, browserCookie)
      return secret !== undefined && typeof binding === 'string' && sameText(hashed(secret), binding)
    },
  }
}
