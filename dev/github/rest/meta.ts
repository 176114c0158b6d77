// The routes about the service itself.
import { ok } from './protocol/answer.ts'
import { publicRoute, type RestRoute } from './route.ts'

export const metaRoutes: readonly RestRoute[] = [
  publicRoute({
    method: 'GET',
    path: '/meta',
    handle: ({ context }) =>
      ok({
        verifiable_password_authentication: false,
        packages: [],
        dependabot: [],
        ...(context.links.flavour === 'enterprise-server' ? { installed_version: '3.19.0' } : {}),
      }),
  }),
  publicRoute({
    method: 'GET',
    path: '/rate_limit',
    handle: ({ rateLimit }) => {
      const { limit, used, remaining, reset } = rateLimit
      const core = { limit, used: Math.min(used, limit), remaining, reset }
      // Search and GraphQL do not exist here, so their limits are zero.
      const none = { limit: 0, used: 0, remaining: 0, reset }
      return ok({ resources: { core, search: none, graphql: none }, rate: core })
    },
  }),
]
