// Owns: the routes about the service itself.
import { ok } from './protocol/answer.ts'
import type { RateLimiter, Resource } from './protocol/rate-limit.ts'
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
      const show = (resource: Resource) => {
        const { limit, used, remaining, reset } = limiter.spend(call.actor, call.address, 0, resource)
        return { limit, used: Math.min(used, limit), remaining, reset }
      }
      const core = show('core')
      // GraphQL is not served: its share is nothing.
      const graphql = { limit: 0, used: 0, remaining: 0, reset: core.reset }
      return ok({ resources: { core, search: show('search'), graphql }, rate: core })
    },
  }),
]
