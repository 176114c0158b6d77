// The entry point of the GitHub client: code outside this folder uses GitHub's API only through these functions.
export {
  type AppClient,
  type AppFacts,
  createAppClient,
  type InstallationPage,
  type WebhookEncoding,
} from './clients/app-client.ts'
export {
  type ApprovalStatement,
  createDiscussionClient,
  type DiscussedPullRequest,
  type DiscussionClient,
} from './clients/discussion-client.ts'
export { createOAuthClient, type OAuthClient, type UserTokens } from './clients/oauth-client.ts'
export {
  createOrganizationClient,
  type OrganizationClient,
  type OrganizationMembership,
} from './clients/organization-membership.ts'
export {
  createPullRequestClient,
  type PullRequest,
  type PullRequestClient,
  pullRequestsOfPage,
} from './clients/pull-request-client.ts'
export {
  type CommitStatusReport,
  createReportClient,
  type DeploymentReport,
  type DeploymentStatusWrite,
  type ReportClient,
} from './clients/report-client.ts'
export {
  type BranchHead,
  createRepositoryClient,
  type RepositoryClient,
  type RepositoryFacts,
  type RepositoryPermission,
} from './clients/repository-client.ts'
export { createTokenRevoker, type RevocationResult, type TokenRevoker } from './clients/token-revoker.ts'
export { createUserClient, type UserClient } from './clients/user-client.ts'
export { type AccessReader, writerById } from './clients/write-access.ts'
export type { Delivery } from './delivery.ts'
export { endpointsOf, type GitHubEndpoints, installationPage } from './endpoints.ts'
export { endpointsOfApp, hostConflict } from './host-conflict.ts'
export type { InstallationFacts, ReportedPermissions } from './installation-facts.ts'
export { createAnswerMetrics, createGitHubMeter, type GitHubMeter } from './metrics.ts'
export type { MintedToken, MintRequest, Permissions } from './minted-token.ts'
export { type Names, notOwner, type Ownership, ownership } from './ownership.ts'
export { pemSigner } from './signing/pem-signer.ts'
export type { Signer } from './signing/signer.ts'
export { signerRefused, transitSigner } from './signing/transit-signer.ts'
export { basicAuthorization, tokenUser } from './token-authorization.ts'
export { type AnswerCache, createAnswerCache } from './transport/answer-cache.ts'
export { askLimit } from './transport/ask-limit.ts'
export type { Fetch } from './transport/bounded-fetch.ts'
export { githubReasons, githubReasonTexts } from './transport/failure.ts'
export { untilTokenIsKnown } from './transport/fresh-token.ts'
export type { GitHubObserver } from './transport/observed-fetch.ts'
export { createWebhookVerifier } from './webhook-signature.ts'
