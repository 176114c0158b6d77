// The only client to GitHub: everything outside this folder that talks to GitHub's API does it through these functions.
export { type AppClient, type AppClientDeps, type AppFacts, createAppClient } from './clients/app-client.ts'
export { createOAuthClient, type OAuthClient, type OAuthClientDeps, type UserTokens } from './clients/oauth-client.ts'
export {
  createOrganizationClient,
  type OrganizationClient,
  type OrganizationMembership,
} from './clients/organization-membership.ts'
export {
  createRepositoryClient,
  type PullRequestFacts,
  type RepositoryClient,
  type RepositoryClientDeps,
  type RepositoryFacts,
  type RepositoryPermission,
  type RepositoryReference,
} from './clients/repository-client.ts'
export { createUserClient, type TeamFacts, type UserClient } from './clients/user-client.ts'
export type { Delivery } from './delivery.ts'
export { endpointsOf, type GitHubEndpoints, installationPage } from './endpoints.ts'
export type { AccountFacts, InstallationFacts, ReportedPermissions } from './installation-facts.ts'
export type { MintedToken, MintRequest, PermissionLevel, Permissions } from './minted-token.ts'
export type { Fetch } from './transport/bounded-fetch.ts'
export { githubReasons, githubReasonTexts } from './transport/failure.ts'
export { createWebhookVerifier } from './webhook-signature.ts'
