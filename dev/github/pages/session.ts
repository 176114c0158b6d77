// The session of a browser: its cookie and the form token against cross-site request forgery. The emulator's users have no
// passwords.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import type { User } from '../state/accounts.ts'
import { days } from '../state/clock.ts'
import type { BrowserSession } from '../state/credentials.ts'
import { userById } from '../state/github-state.ts'
import { credentialKey } from '../tokens/formats.ts'

export const sessionCookie = 'user_session'

export type Visitor = { readonly user: User; readonly session: BrowserSession }

function secretOf(request: FastifyRequest): string | undefined {
  const cookie = request.cookies[sessionCookie]
  return cookie !== undefined && cookie.length <= 200 ? cookie : undefined
}

/** The signed-in person, if any. */
export function visitorOf(context: ActionContext, request: FastifyRequest): Visitor | undefined {
  const secret = secretOf(request)
  const session = secret === undefined ? undefined : context.state.credentials.sessions[credentialKey(secret)]
  if (!session || session.expiresAt <= context.now()) return undefined
  const user = userById(context.state, session.userId)
  return user && { user, session }
}

/** Starts a session for the person and sets its cookie. */
export function startSession(context: ActionContext, reply: FastifyReply, user: User): void {
  const secret = randomBytes(32).toString('base64url')
  const formToken = randomBytes(32).toString('base64url')
  context.store.change(state => {
    state.credentials.sessions[credentialKey(secret)] = { userId: user.id, formToken, expiresAt: context.now() + days(14) }
  })
  void reply.setCookie(sessionCookie, secret, { path: '/', httpOnly: true, sameSite: 'lax', maxAge: 14 * 24 * 3600 })
}

/** Ends the session of the request. */
export function endSession(context: ActionContext, request: FastifyRequest, reply: FastifyReply): void {
  const secret = secretOf(request)
  if (secret !== undefined) {
    context.store.change(state => {
      delete state.credentials.sessions[credentialKey(secret)]
    })
  }
  void reply.clearCookie(sessionCookie, { path: '/' })
}

/** Whether a posted form has the token of the session in which it was shown. */
export function formIsGenuine(visitor: Visitor, posted: string | undefined): boolean {
  const expected = Buffer.from(visitor.session.formToken)
  const given = Buffer.from(posted ?? '')
  return expected.length === given.length && timingSafeEqual(expected, given)
}
