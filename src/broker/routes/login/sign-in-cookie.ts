// What the broker must remember between the redirect to GitHub and GitHub's answer, sealed in a cookie of the browser that
// began: an anonymous request costs no row, and the answer works in this very browser only. The name of the cookie comes from
// the state, so that two tabs do not disturb each other.
import { hkdfSync, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import { isJsonObject } from '../../../lib/json/json-value.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'
import { createSealer } from '../../../store/seal.ts'
import { cookieAttributes } from '../../sessions.ts'

/** A sign-in that waits for GitHub's answer. */
export type SignIn = {
  /** RFC 7636. */
  readonly codeVerifier: string
  readonly returnTo: string
}

export type SignInCookies = {
  /** Remembers the sign-in in this browser for ten minutes and returns the state to send to GitHub. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, signIn: SignIn) => string
  /** Clears the cookie. Undefined unless this browser began the sign-in of this state, at most ten minutes ago. */
  readonly take: (request: FastifyRequest, reply: FastifyReply, state: string) => SignIn | undefined
}

const prefix = '__Host-sekisho-login-'
const lifeSeconds = 600
/** Each takes up to 2.5 KB of every request, which may have 32 KB of headers. */
const maxAttempts = 6

function cookieOf(state: string): string {
  return prefix + shortHash(state, 16)
}

function isSealed(value: unknown): value is SignIn & { readonly until: number } {
  return isJsonObject(value) && 'codeVerifier' in value && 'returnTo' in value && 'until' in value
}

/** Seals with a key that is derived from `key`, which all replicas share. */
export function createSignInCookies(key: SecretString, clock: Pick<Clock, 'now'>): SignInCookies {
  const derived = Buffer.from(hkdfSync('sha256', key.reveal(), '', 'sekisho:sign-in', 32))
  const sealer = createSealer([new SecretString(derived.toString('base64'))], 'sign-in')
  return {
    begin(request, reply, signIn) {
      const state = randomBytes(32).toString('base64url')
      const former = Object.keys(request.cookies).filter(name => name.startsWith(prefix))
      if (former.length >= maxAttempts) for (const name of former) reply.clearCookie(name, cookieAttributes)
      const until = clock.now().getTime() + lifeSeconds * 1000
      const sealed = sealer.seal(new SecretString(JSON.stringify({ ...signIn, until })), state)
      reply.setCookie(cookieOf(state), sealed, { ...cookieAttributes, maxAge: lifeSeconds })
      return state
    },
    take(request, reply, state) {
      const name = cookieOf(state)
      const sealed = request.cookies[name]
      if (sealed === undefined) return undefined
      reply.clearCookie(name, cookieAttributes)
      try {
        const value: unknown = JSON.parse(sealer.open(sealed, state).reveal())
        if (!isSealed(value) || value.until <= clock.now().getTime()) return undefined
        return { codeVerifier: value.codeVerifier, returnTo: value.returnTo }
      } catch {
        // Sealed by another key or altered: as unknown as no cookie at all.
        return undefined
      }
    },
  }
}
