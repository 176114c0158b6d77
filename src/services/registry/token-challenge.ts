// A registry's challenge: where a token is asked for, and the token in the answer of that place.
// Source: https://distribution.github.io/distribution/spec/auth/token/
import { asObject, parseJson, textAt } from '../../lib/json/json-value.ts'

/** An answer of a token server has at most so many bytes. */
export const maxTokenBytes = 65_536

const tokenPattern = /^[\x21-\x7e]{1,16384}$/

function parameter(challenge: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]{1,500})"`).exec(challenge)?.[1]
}

/**
 * The URL that gives a token for `scope`, without name, password and query of the realm. Undefined when the challenge
 * is not Bearer, or its realm is no URL or not `allowed`.
 */
export function tokenUrl(challenge: string, scope: string, allowed: (realm: URL) => boolean): URL | undefined {
  const realm = /^Bearer /i.test(challenge) ? parameter(challenge, 'realm') : undefined
  if (realm === undefined || !URL.canParse(realm)) return undefined
  const named = new URL(realm)
  if (!allowed(named)) return undefined
  const url = new URL(named.pathname, named.origin)
  const service = parameter(challenge, 'service')
  if (service !== undefined) url.searchParams.set('service', service)
  url.searchParams.set('scope', scope)
  return url
}

/** The token in a token server's answer; undefined when there is none that a header can carry. */
export function tokenIn(status: number, bytes: Buffer | undefined): string | undefined {
  const answer = status === 200 && bytes !== undefined ? asObject(parseJson(bytes.toString('utf8'))) : undefined
  const token = textAt(answer, 'token') ?? textAt(answer, 'access_token')
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}
