// Owns: the routes about the service itself.
import { ok } from './answer.ts'
import type { RateLimiter } from './rate-limit.ts'
import { publicRoute, type RestRoute } from './route.ts'

export const metaRoutes = (limiter: RateLimiter): readonly RestRoute[] => [
  publicRoute({
    method: 'GET',
    path: '/meta',
    handle: ({ context }) =>
      ok({
        verifiable_password_authentication: false,
        packages: [],
        dependabot: [],
        ...(context.settings.flavour === 'enterprise-server' ? { installed_version: '3.19.0' } : {}),
      }),
  }),
  publicRoute({
    method: 'GET',
    path: '/rate_limit',
    handle: call => {
      const bucket = limiter.spend(call.actor, '', 0)
      const core = {
        limit: bucket.limit,
        used: Math.min(bucket.used, bucket.limit),
        remaining: bucket.remaining,
        reset: bucket.reset,
      }
      const unused = { limit: 30, used: 0, remaining: 30, reset: bucket.reset }
      return ok({ resources: { core, search: unused, graphql: { ...unused, limit: 0, remaining: 0 } }, rate: core })
    },
  }),
]
