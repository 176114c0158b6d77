// Knows who uses the browser: the session cookie, and the CSRF secret of forms. Handles are random; the store keeps only their
// hashes. Cookies are `__Host-`: https only, this host only, whole site (RFC 6265bis §4.1.3.2), so that no other host can plant
// one.
import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { userSubject } from '../api/names.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { equalInConstantTime } from '../lib/text/constant-time.ts'
import type { Sessions } from '../store/sessions.ts'

export const sessionCookie = '__Host-sekisho-session'

/** A person as GitHub identifies them. The login is for display only. */
export type SignedInPerson = { readonly host: string; readonly userId: number; readonly login: string }

export type Person = SignedInPerson & {
  readonly subject: string
  /** Goes into every form as `csrf`. */
  readonly csrf: string
}

export type PersonSessions = {
  /** The person who is signed in with this browser, or undefined. */
  readonly personOf: (request: FastifyRequest) => Promise<Person | undefined>
  /**
   * Rejects with `unauthenticated` when nobody is signed in, and with `forbidden` when the form does not carry the person's
   * secret.
   */
  readonly requireForm: (request: FastifyRequest, csrf: unknown) => Promise<Person>
  /** Begins a new session and sets its cookie. An earlier session of this browser ends: a planted handle is never signed in. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, person: SignedInPerson) => Promise<void>
  /** Ends the session of this browser, and clears its cookie. */
  readonly end: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/** The attributes of all our cookies; the prefix `__Host-` requires the first two. */
export const cookieAttributes = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const
const handlePattern = /^[A-Za-z0-9_-]{20,200}$/

function handleIn(request: FastifyRequest, name: string): string | undefined {
  const value = request.cookies[name]
  return value !== undefined && handlePattern.test(value) ? value : undefined
}

/** Derived from the session's handle: nothing to store, it ends with the session, and it is useless without the cookie. */
function formSecret(handle: string): string {
  return createHmac('sha256', handle).update('sekisho form').digest('base64url')
}

/** Sessions by cookie. The store holds hashes of the cookies only, so a copy of it cannot be used to sign in. */
export function createPersonSessions(deps: {
  readonly sessions: Sessions
  readonly clock: Clock
  readonly lifeHours: number
  /** Whether no session of that person counts. */
  readonly isHalted: (host: string, userId: number) => boolean
}): PersonSessions {
  const { sessions, clock, isHalted } = deps
  const lifeSeconds = deps.lifeHours * 3600

  const personOf = async (request: FastifyRequest): Promise<Person | undefined> => {
    const handle = handleIn(request, sessionCookie)
    const session = handle === undefined ? undefined : await sessions.find(handle)
    if (handle === undefined || session === undefined) return undefined
    const { host, userId, login } = session
    if (isHalted(host, userId)) return undefined
    return { host, userId, login, subject: userSubject(host, userId), csrf: formSecret(handle) }
  }

  return {
    personOf,
    async requireForm(request, csrf) {
      const person = await personOf(request)
      if (person === undefined) throw new AppError('unauthenticated', 'sign in first')
      if (typeof csrf === 'string' && equalInConstantTime(csrf, person.csrf)) return person
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
      reply.clearCookie(sessionCookie, cookieAttributes)
    },
  }
}
