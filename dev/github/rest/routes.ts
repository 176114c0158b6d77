// The list of every REST route. A path outside of the list is answered with 404.
import { appRoutes } from './app/apps.ts'
import { authorizationRoutes } from './app/authorizations.ts'
import { deliveryRoutes } from './app/deliveries.ts'
import { installationRoutes } from './app/installations.ts'
import { gitCommitRoutes } from './git/commits.ts'
import { compareRoutes } from './git/compare.ts'
import { metaRoutes } from './meta.ts'
import { organizationRoutes } from './organization/organizations.ts'
import { teamChangeRoutes } from './organization/team-changes.ts'
import { teamRoutes } from './organization/teams.ts'
import { commentRoutes } from './pull-requests/comments.ts'
import { labelRoutes } from './pull-requests/labels.ts'
import { pullRequestRoutes } from './pull-requests/pull-requests.ts'
import { reviewRoutes } from './pull-requests/reviews.ts'
import { branchRoutes } from './repository/branches.ts'
import { collaboratorRoutes } from './repository/collaborators.ts'
import { repositoryRoutes } from './repository/repositories.ts'
import { repositorySettingRoutes } from './repository/settings.ts'
import type { RestRoute } from './route.ts'
import { deploymentRoutes } from './statuses/deployments.ts'
import { environmentRoutes } from './statuses/environments.ts'
import { statusRoutes } from './statuses/statuses.ts'
import { userRoutes } from './users.ts'

/** All routes, in the order in which GitHub's documentation groups them. */
export const restRoutes: readonly RestRoute[] = [
  ...metaRoutes,
  ...appRoutes,
  ...authorizationRoutes,
  ...installationRoutes,
  ...deliveryRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...teamRoutes,
  ...teamChangeRoutes,
  ...repositoryRoutes,
  ...repositorySettingRoutes,
  ...collaboratorRoutes,
  ...branchRoutes,
  ...compareRoutes,
  ...gitCommitRoutes,
  ...pullRequestRoutes,
  ...reviewRoutes,
  ...labelRoutes,
  ...commentRoutes,
  ...statusRoutes,
  ...deploymentRoutes,
  ...environmentRoutes,
]
