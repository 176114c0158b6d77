// The only door to GitHub: everything outside this folder that talks to GitHub's API does it through these functions.
export { type AppDoor, type AppDoorDeps, type AppFacts, createAppDoor } from './app-door.ts'
export type { Fetch } from './bounded-fetch.ts'
export type { Delivery } from './delivery.ts'
export { endpointsOf, type GitHubEndpoints, installationPage } from './endpoints.ts'
export { githubReasons } from './failure.ts'
export type { AccountFacts, InstallationFacts, ReportedPermissions } from './installation-facts.ts'
export type { MintedToken, MintRequest, PermissionLevel, Permissions } from './minted-token.ts'
export { createOAuthDoor, type OAuthDoor, type OAuthDoorDeps, type UserTokens } from './oauth-door.ts'
export { createOrganizationDoor, type OrganizationDoor, type OrganizationMembership } from './organization-membership.ts'
export {
  createRepositoryDoor,
  type PullRequestFacts,
  type RepositoryDoor,
  type RepositoryDoorDeps,
  type RepositoryFacts,
  type RepositoryPermission,
  type RepositoryReference,
} from './repository-door.ts'
export { createUserDoor, type TeamFacts, type UserDoor } from './user-door.ts'
export { createWebhookVerifier } from './webhook-signature.ts'
