// The headers every answer carries: no framing, no sniffing, no referrer, no script that is not ours.
// Pure values and one Fastify hook. Pages that lead elsewhere by a form say so in `formTargets`.
// Source: https://owasp.org/www-project-secure-headers/ and CSP Level 3 (form-action is also applied to redirects after a form).
import type { FastifyInstance } from 'fastify'

export type SecurityHeaderOptions = {
  /** Origins a form may end at besides our own, such as https://github.com or http://127.0.0.1:*. */
  readonly formTargets: readonly string[]
  /** Only where people reach us by https: browsers then refuse http for two years. */
  readonly strictTransport: boolean
}

export function contentSecurityPolicy(formTargets: readonly string[]): string {
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

/** Sets them on every reply; nothing is kept by caches unless a route says so. */
export function addSecurityHeaders(server: FastifyInstance, options: () => SecurityHeaderOptions): void {
  server.addHook('onRequest', (_request, reply, next) => {
    reply.headers({ ...securityHeaders(options()), 'cache-control': 'no-store' })
    next()
  })
}
