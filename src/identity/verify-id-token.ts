// Verifies the ID tokens of our own issuer, for the broker's API: issuer, audience, lifetime, ES256 only, and the claims that
// we rely on. Keys come from the options only; headers such as `jku` or `jwk` are never followed (RFC 8725 §3.1, §3.10).
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { parseUserSubject } from '../api/names.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'

/** What a token must match. */
export type VerifierOptions = {
  readonly issuer: string
  readonly audience: string
  /** The issuer's public keys at the time of the call: they rotate. */
  readonly keySet: () => Promise<JSONWebKeySet> | JSONWebKeySet
  readonly clock: Clock
}

/** The person of a verified token. */
export type IdentityClaims = {
  /** `github|<host>|<numeric id>`. */
  readonly subject: string
  readonly host: string
  readonly userId: number
  /** For display only. */
  readonly login: string | undefined
  readonly groups: readonly string[]
  readonly tokenId: string | undefined
  readonly expiresAt: Date
}

const maxTokenCharacters = 16_384
const maxGroups = 500

/** The verifier throws `unauthenticated` with a short cure; the exact reason is not disclosed to the client. */
export function createIdTokenVerifier(options: VerifierOptions): (token: string) => Promise<IdentityClaims> {
  return async token => {
    if (token.length > maxTokenCharacters) throw refused('the token is too long')
    const { payload } = await verified(token, options)
    return identityClaims(payload)
  }
}

async function verified(token: string, options: VerifierOptions): Promise<{ readonly payload: JWTPayload }> {
  try {
    return await jwtVerify(token, createLocalJWKSet(await options.keySet()), {
      issuer: options.issuer,
      audience: options.audience,
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'exp', 'iat'],
      clockTolerance: 5,
      currentDate: options.clock.now(),
    })
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refused('the login has expired: run sekisho login')
    if (error instanceof errors.JOSEError) throw refused('the token is not valid here: run sekisho login')
    throw error
  }
}

function identityClaims(payload: JWTPayload): IdentityClaims {
  const person = parseUserSubject(payload.sub ?? '')
  const groups = payload['groups'] ?? []
  if (!person || payload.exp === undefined) throw refused('the token does not name a person')
  if (!Array.isArray(groups) || groups.length > maxGroups || !groups.every(group => typeof group === 'string'))
    throw refused('the groups of the token cannot be read')
  return {
    subject: payload.sub ?? '',
    ...person,
    login: typeof payload['login'] === 'string' ? payload['login'] : undefined,
    groups: groups.filter(group => !group.startsWith('system:')),
    tokenId: payload.jti,
    expiresAt: new Date(payload.exp * 1000),
  }
}

function refused(message: string): AppError {
  return new AppError('unauthenticated', message)
}
