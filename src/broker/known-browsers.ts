// Recognises a browser in which a person signed in before, by a signed cookie: a flood of strangers then cannot use up what
// this person may request, although all of them share an address. It proves nothing else: it is not a sign-in, and it outlives
// the session.
// Source: https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
import { createHmac, hkdfSync } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseUserSubject } from '../api/names.ts'
import type { SecretString } from '../lib/secret-string.ts'
import { equalInConstantTime } from '../lib/text/constant-time.ts'
import { cookieAttributes } from './sessions.ts'

export type KnownBrowsers = {
  /** Sets the cookie, after the person has signed in. */
  readonly remember: (reply: FastifyReply, subject: string) => void
  /** The person who signed in with this browser before, or undefined. */
  readonly subjectOf: (request: FastifyRequest) => string | undefined
}

const cookieName = '__Host-sekisho-known'
const lifeSeconds = 90 * 24 * 3600

/** Signs with a key that is derived from `key`, which all replicas share. */
export function createKnownBrowsers(key: SecretString): KnownBrowsers {
  const signing = Buffer.from(hkdfSync('sha256', key.reveal(), '', 'sekisho:known-browser', 32))
  const signatureOf = (subject: string): Buffer => createHmac('sha256', signing).update(subject).digest()
  return {
    remember(reply, subject) {
      const value = `${Buffer.from(subject).toString('base64url')}.${signatureOf(subject).toString('base64url')}`
      reply.setCookie(cookieName, value, { ...cookieAttributes, maxAge: lifeSeconds })
    },
    subjectOf(request) {
      const [encoded, signature, ...rest] = (request.cookies[cookieName] ?? '').slice(0, 500).split('.')
      if (encoded === undefined || signature === undefined || rest.length > 0) return undefined
      const subject = Buffer.from(encoded, 'base64url').toString()
      const genuine = equalInConstantTime(Buffer.from(signature, 'base64url'), signatureOf(subject))
      return genuine && parseUserSubject(subject) !== undefined ? subject : undefined
    },
  }
}
