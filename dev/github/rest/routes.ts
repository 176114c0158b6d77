// Owns: the list of every REST route. What is not in it does not exist: 404.
import { appRoutes } from './apps.ts'
import { authorizationRoutes } from './authorizations.ts'
import { branchRoutes } from './branches.ts'
import { commentRoutes } from './comments.ts'
import { deliveryRoutes } from './deliveries.ts'
import { deploymentRoutes } from './deployments.ts'
import { installationRoutes } from './installations.ts'
import { metaRoutes } from './meta.ts'
import { organizationRoutes } from './organizations.ts'
import { pullRequestRoutes } from './pull-requests.ts'
import type { RateLimiter } from './rate-limit.ts'
import { repositoryRoutes } from './repositories.ts'
import type { RestRoute } from './route.ts'
import { statusRoutes } from './statuses.ts'
import { teamRoutes } from './teams.ts'
import { userRoutes } from './users.ts'

/** All routes, in the order in which the documentation of GitHub groups them. */
export const restRoutes = (deps: { readonly limiter: RateLimiter }): readonly RestRoute[] => [
  ...metaRoutes(deps.limiter),
  ...appRoutes,
  ...authorizationRoutes,
  ...installationRoutes,
  ...deliveryRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...teamRoutes,
  ...repositoryRoutes,
  ...branchRoutes,
  ...pullRequestRoutes,
  ...commentRoutes,
  ...statusRoutes,
  ...deploymentRoutes,
]
