// Owns: the list of every REST route. What is not in it does not exist: 404.
import { appRoutes } from './apps.ts'
import { authorizationRoutes } from './authorizations.ts'
import { branchRoutes } from './branches.ts'
import { environmentRoutes } from './checks/environments.ts'
import { checkRunRoutes } from './checks/runs.ts'
import { checkSuiteRoutes } from './checks/suites.ts'
import { commentRoutes } from './comments.ts'
import { credentialRoutes } from './credentials.ts'
import { deliveryRoutes } from './deliveries.ts'
import { deploymentRoutes } from './deployments.ts'
import { archiveRoutes } from './git/archives.ts'
import { compareRoutes } from './git/compare.ts'
import { contentRoutes } from './git/contents.ts'
import { gitObjectRoutes } from './git/objects.ts'
import { refRoutes } from './git/refs.ts'
import { installationRoutes } from './installations.ts'
import { metaRoutes } from './meta.ts'
import { organizationPeopleRoutes } from './organization/people.ts'
import { organizationSettingRoutes } from './organization/settings.ts'
import { teamChangeRoutes } from './organization/team-changes.ts'
import { organizationRoutes } from './organizations.ts'
import { pullRequestRoutes } from './pull-requests.ts'
import type { RateLimiter } from './rate-limit.ts'
import { repositoryRoutes } from './repositories.ts'
import { collaboratorRoutes } from './repository/collaborators.ts'
import { repositorySettingRoutes } from './repository/settings.ts'
import { userInvitationRoutes } from './repository/user-invitations.ts'
import type { RestRoute } from './route.ts'
import { searchRoutes } from './search.ts'
import { statusRoutes } from './statuses.ts'
import { teamRoutes } from './teams.ts'
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
