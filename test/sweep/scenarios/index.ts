// All scenarios of the sweep. The slow ones come first, so that no worker runs a slow one alone at the end.
import type { Scenario } from '../scenario.ts'
import { appPipelineDeletion, appPipelineScenario } from './app-pipeline.ts'
import { appSecretDeletion, appSecretScenario } from './app-secret.ts'
import { applicationDeletion, applicationScenario } from './application.ts'
import { applicationChartScenario } from './application-chart.ts'
import { applicationPartsScenario } from './application-parts.ts'
import { bucketDeletion, bucketRotation, bucketScenario } from './buckets.ts'
import { clusterGitHubAppScenario } from './cluster-github-app.ts'
import { databaseDeletion, databaseKept, databaseRotation, databaseScenario, databaseWritesEnd } from './databases.ts'
import { domainClaimScenario } from './domain-claim.ts'
import { githubReportOfFork, githubReportOfRemoteSync } from './github-report.ts'
import { grantForApplication, grantOfReplacedApplication } from './grant-application.ts'
import { grantApprovalScenario } from './grant-approval.ts'
import { grantPolicyScenario } from './grant-policy.ts'
import { grantInSecret } from './grant-secret.ts'
import { haltLifting, haltScenario } from './halt.ts'
import { haltedPersonScenario } from './halted-person.ts'
import { installationDeletion, installationScenario, installationStandIn, installationSuspension } from './installation.ts'
import { onboardingAgain, onboardingScenario } from './onboarding.ts'
import { previewApprovalScenario } from './preview-approval.ts'
import { previewApprovalByCommandLine, previewApprovalOnPage } from './preview-approval-by-person.ts'
import { releaseScenario } from './release.ts'
import {
  remoteSyncBranchDeletion,
  remoteSyncBuildpacksPod,
  remoteSyncClosedPull,
  remoteSyncDeletion,
  remoteSyncDockerfile,
  remoteSyncPromotion,
  remoteSyncScenario,
} from './remote-sync.ts'
import { remoteSyncRebase } from './remote-sync-rebase.ts'
import { remoteSyncSeveral } from './remote-sync-several.ts'
import { repositoryGrantDeletion, repositoryGrantScenario } from './repository-grant.ts'
import { serviceProxyScenario } from './service-proxy.ts'
import { serviceRecordsScenario } from './service-records.ts'
import { tenantDeletion, tenantScenario } from './tenant.ts'
import { tokenDeskScenario } from './token-desk.ts'
import { unusedImagesScenario } from './unused-images.ts'
import { webhookInboxScenario } from './webhook-inbox.ts'

export const scenarios: readonly Scenario[] = [
  tenantDeletion,
  appPipelineScenario,
  appPipelineDeletion,
  remoteSyncScenario,
  remoteSyncSeveral,
  remoteSyncDeletion,
  remoteSyncRebase,
  remoteSyncBranchDeletion,
  remoteSyncDockerfile,
  remoteSyncBuildpacksPod,
  remoteSyncPromotion,
  remoteSyncClosedPull,
  bucketRotation,
  bucketDeletion,
  bucketScenario,
  databaseKept,
  databaseDeletion,
  databaseWritesEnd,
  databaseRotation,
  databaseScenario,
  githubReportOfFork,
  githubReportOfRemoteSync,
  tenantScenario,
  installationSuspension,
  installationStandIn,
  installationDeletion,
  haltScenario,
  haltedPersonScenario,
  haltLifting,
  grantOfReplacedApplication,
  grantForApplication,
  grantInSecret,
  repositoryGrantDeletion,
  grantApprovalScenario,
  grantPolicyScenario,
  tokenDeskScenario,
  repositoryGrantScenario,
  installationScenario,
  webhookInboxScenario,
  unusedImagesScenario,
  onboardingScenario,
  onboardingAgain,
  previewApprovalScenario,
  previewApprovalOnPage,
  previewApprovalByCommandLine,
  releaseScenario,
  applicationScenario,
  applicationDeletion,
  applicationPartsScenario,
  domainClaimScenario,
  serviceProxyScenario,
  serviceRecordsScenario,
  clusterGitHubAppScenario,
  appSecretScenario,
  appSecretDeletion,
  applicationChartScenario,
]
