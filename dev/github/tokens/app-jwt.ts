// The check of the JSON web token with which an App authenticates as itself.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
import { createPublicKey, verify } from 'node:crypto'
import type { App } from '../state/apps.ts'
import { appByClientId, appById, type GitHubState } from '../state/github-state.ts'

export type JwtCheck =
  | { readonly ok: true; readonly app: App }
  | { readonly ok: false; readonly status: 401 | 404; readonly message: string }

function refuse(message: string, status: 401 | 404 = 401): JwtCheck {
  return { ok: false, status, message }
}

const undecodable = refuse('A JSON web token could not be decoded')

function decode(part: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // Not JSON: the caller answers "could not be decoded".
    return undefined
  }
}

/** Whether the text has the form of a JWT rather than of a `gh?_` token. */
export function looksLikeJwt(text: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(text) && !/^gh[a-z]_/.test(text)
}

function issuerOf(state: GitHubState, issuer: unknown): App | undefined {
  if (typeof issuer === 'number') return appById(state, issuer)
  if (typeof issuer !== 'string') return undefined
  return appByClientId(state, issuer) ?? (/^\d{1,15}$/.test(issuer) ? appById(state, Number(issuer)) : undefined)
}

/**
 * Checks an App JWT: RS256 by one of the App's keys, `iss` = client id or App id, `iat` not in the future, `exp` in the future
 * and at most ten minutes ahead. `now` is milliseconds since the epoch.
 */
export function checkAppJwt(state: GitHubState, token: string, now: number): JwtCheck {
  const [head, body, signature] = token.split('.')
  const header = decode(head)
  const claims = decode(body)
  if (!header || !claims || header['alg'] !== 'RS256') return undecodable
  const app = issuerOf(state, claims['iss'])
  if (!app) return refuse('Integration not found', 404)
  const signed = Buffer.from(`${head}.${body}`)
  const proof = Buffer.from(signature ?? '', 'base64url')
  if (!app.publicKeys.some(pem => verify('RSA-SHA256', signed, createPublicKey(pem), proof))) return undecodable

  const seconds = now / 1000
  const { iat, exp } = claims
  if (typeof iat !== 'number' || !Number.isInteger(iat) || iat > seconds + 1) {
    return refuse("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
  }
  if (typeof exp !== 'number' || exp <= seconds) {
    return refuse(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  }
  if (exp > seconds + 600) return refuse("'Expiration time' claim ('exp') is too far in the future")
  return { ok: true, app }
}
