// Tokens of ServiceAccounts: what one says about itself, which is used to refuse and never to allow, and whom a TokenReview of
// the API server names. Pure.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
import type { TokenReview } from '../api/builtin/index.ts'
import { asObject, objectAt, parseJson, textAt } from '../lib/json/json-value.ts'
import type { SecretString } from '../lib/secret-string.ts'

const maxToken = 16_384
/** A clock may be that far from the API server's. */
const toleratedSeconds = 60

/** What a JWT says. Nothing is verified: a forged token passes here and fails at the API server. */
export type AccountClaims = {
  readonly audiences: readonly unknown[]
  /** Seconds since 1970. */
  readonly expires: number
  /** Seconds between its issue and its end. */
  readonly life: number
  readonly isBoundToPod: boolean
}

/** Undefined for what no API server issued for a ServiceAccount. */
export function accountClaims(token: SecretString): AccountClaims | undefined {
  if (token.length === 0 || token.length > maxToken) return undefined
  const claims = payloadOf(token.reveal())
  const bound = objectAt(claims, 'kubernetes.io')
  if (!textAt(bound, 'namespace') || !textAt(objectAt(bound, 'serviceaccount'), 'uid')) return undefined
  const { aud, exp, iat } = claims ?? {}
  if (typeof exp !== 'number') return undefined
  return {
    audiences: Array.isArray(aud) ? aud : [aud],
    expires: exp,
    life: typeof iat === 'number' ? exp - iat : Number.POSITIVE_INFINITY,
    isBoundToPod: Boolean(textAt(objectAt(bound, 'pod'), 'uid')),
  }
}

/** Whether the token is for this audience and has not ended. */
export function isFor({ audiences, expires }: AccountClaims, audience: string, now: Date): boolean {
  return audiences.includes(audience) && expires + toleratedSeconds > now.getTime() / 1000
}

/** A ServiceAccount that the API server names, with the user name that Kubernetes knows it by. */
export type ReviewedAccount = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly username: string
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** Undefined unless the token was accepted, has the audience, and belongs to a ServiceAccount. */
export function reviewedAccount(status: TokenReview['status'], audience: string): ReviewedAccount | undefined {
  const { authenticated, audiences, user } = status ?? {}
  // A user may be present with `authenticated: false`: it does not count.
  if (authenticated !== true || !audiences?.includes(audience)) return undefined
  const username = user?.username ?? ''
  const match = /^system:serviceaccount:([a-z0-9][a-z0-9-]{0,62}):([a-z0-9][a-z0-9.-]{0,252})$/.exec(username)
  if (!match?.[1] || !match[2] || !user?.uid) return undefined
  return { namespace: match[1], name: match[2], uid: user.uid, username, extra: user.extra ?? {} }
}

/** The payload of a JWT (RFC 7519 §3); undefined when it is not one. */
function payloadOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [header, payload, signature, more] = token.split('.')
  if (!header || !payload || !signature || more !== undefined) return undefined
  return asObject(parseJson(Buffer.from(payload, 'base64url').toString('utf8')))
}
