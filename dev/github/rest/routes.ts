// Owns: the list of every REST route. What is not in it does not exist: 404.
import { appRoutes } from './app/apps.ts'
import { authorizationRoutes } from './app/authorizations.ts'
import { credentialRoutes } from './app/credentials.ts'
import { deliveryRoutes } from './app/deliveries.ts'
import { installationRoutes } from './app/installations.ts'
import { deploymentRoutes } from './checks/deployments.ts'
import { environmentRoutes } from './checks/environments.ts'
import { checkRunRoutes } from './checks/runs.ts'
import { statusRoutes } from './checks/statuses.ts'
import { checkSuiteRoutes } from './checks/suites.ts'
import { archiveRoutes } from './git/archives.ts'
import { compareRoutes } from './git/compare.ts'
import { contentRoutes } from './git/contents.ts'
import { gitObjectRoutes } from './git/objects.ts'
import { refRoutes } from './git/refs.ts'
import { metaRoutes } from './meta.ts'
import { organizationRoutes } from './organization/organizations.ts'
import { organizationPeopleRoutes } from './organization/people.ts'
import { organizationSettingRoutes } from './organization/settings.ts'
import { teamChangeRoutes } from './organization/team-changes.ts'
import { teamRoutes } from './organization/teams.ts'
import type { RateLimiter } from './protocol/rate-limit.ts'
import { commentRoutes } from './pull-requests/comments.ts'
import { pullRequestRoutes } from './pull-requests/pull-requests.ts'
import { branchRoutes } from './repository/branches.ts'
import { collaboratorRoutes } from './repository/collaborators.ts'
import { repositoryRoutes } from './repository/repositories.ts'
import { repositorySettingRoutes } from './repository/settings.ts'
import { userInvitationRoutes } from './repository/user-invitations.ts'
import type { RestRoute } from './route.ts'
import { searchRoutes } from './search.ts'
import { userRoutes } from './users.ts'

/** All routes, in the order in which the documentation of GitHub groups them. */
export const restRoutes = (deps: { readonly limiter: RateLimiter }): readonly RestRoute[] => [
  ...metaRoutes(deps.limiter),
  ...appRoutes,
  ...authorizationRoutes,
  ...credentialRoutes,
  ...installationRoutes,
  ...deliveryRoutes,
  ...userRoutes,
  ...userInvitationRoutes,
  ...organizationRoutes,
  ...organizationSettingRoutes,
  ...organizationPeopleRoutes,
  ...teamRoutes,
  ...teamChangeRoutes,
  ...repositoryRoutes,
  ...repositorySettingRoutes,
  ...collaboratorRoutes,
  ...branchRoutes,
  ...refRoutes,
  ...gitObjectRoutes,
  ...contentRoutes,
  ...compareRoutes,
  ...archiveRoutes,
  ...pullRequestRoutes,
  ...commentRoutes,
  ...statusRoutes,
  ...checkRunRoutes,
  ...checkSuiteRoutes,
  ...deploymentRoutes,
  ...searchRoutes,
  ...environmentRoutes,
]
