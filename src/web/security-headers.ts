// The security headers of every response: no framing, no content sniffing, no referrer, no scripts but files of our own where a
// server has some. A page whose form leads to another origin must list that origin in `formTargets`.
// Source: https://owasp.org/www-project-secure-headers/ and CSP Level 3 (form-action is also applied to redirects after a form).
import type { FastifyInstance } from 'fastify'
import { derivedFrom } from '../lib/derived.ts'

export type SecurityHeaderOptions = {
  /** Origins that a form may lead to besides our own, such as https://github.com or http://127.0.0.1:*. */
  readonly formTargets: readonly string[]
  /** Only where people use https: browsers then refuse http for two years. */
  readonly strictTransport: boolean
  /**
   * Pages may load scripts from our own address, and these may send requests to it. Only answers with the type of a script run
   * (`nosniff`), and never anything inline. Default: no script runs.
   */
  readonly ownScripts?: boolean
}

function contentSecurityPolicy({ formTargets, ownScripts = false }: SecurityHeaderOptions): string {
  return [
    "default-src 'none'",
    ...(ownScripts ? ["script-src 'self'", "connect-src 'self'"] : ["script-src 'none'"]),
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

/** The headers by name. */
export function securityHeaders(options: SecurityHeaderOptions): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentSecurityPolicy(options),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(options.strictTransport ? { 'strict-transport-security': 'max-age=63072000' } : {}),
  }
}

/**
 * Sets the headers on every reply, and `cache-control: no-store` unless a route changes it. They are computed when `options`
 * returns another object.
 */
export function addSecurityHeaders(server: FastifyInstance, options: () => SecurityHeaderOptions): void {
  const headers = derivedFrom(options, present => ({ ...securityHeaders(present), 'cache-control': 'no-store' }))
  server.addHook('onRequest', (_request, reply, next) => {
    reply.headers(headers())
    next()
  })
}
