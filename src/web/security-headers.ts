// The security headers of every response: no framing, no content sniffing, no referrer, no scripts.
// A page whose form leads to another origin must list that origin in `formTargets`.
// Source: https://owasp.org/www-project-secure-headers/ and CSP Level 3 (form-action is also applied to redirects after a form).
import type { FastifyInstance } from 'fastify'

export type SecurityHeaderOptions = {
  /** Origins that a form may lead to besides our own, such as https://github.com or http://127.0.0.1:*. */
  readonly formTargets: readonly string[]
  /** Only where people use https: browsers then refuse http for two years. */
  readonly strictTransport: boolean
}

function contentSecurityPolicy(formTargets: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'none'",
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
    'content-security-policy': contentSecurityPolicy(options.formTargets),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(options.strictTransport ? { 'strict-transport-security': 'max-age=63072000' } : {}),
  }
}

/** Sets the headers on every reply, and `cache-control: no-store` unless a route changes it. */
export function addSecurityHeaders(server: FastifyInstance, options: () => SecurityHeaderOptions): void {
  server.addHook('onRequest', (_request, reply, next) => {
    reply.headers({ ...securityHeaders(options()), 'cache-control': 'no-store' })
    next()
  })
}
