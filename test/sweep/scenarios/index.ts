// All scenarios of the sweep. The slow ones come first, so that no worker runs a slow one alone at the end.
import type { Scenario } from '../scenario.ts'
import { applicationDeletion, applicationScenario } from './application.ts'
import { applicationChartScenario } from './application-chart.ts'
import { clusterGitHubAppScenario } from './cluster-github-app.ts'
import { domainClaimScenario } from './domain-claim.ts'
import { installationDeletion, installationScenario, installationSuspension } from './installation.ts'
import { onboardingAgain, onboardingScenario } from './onboarding.ts'
import { remoteSyncBranchDeletion, remoteSyncDeletion, remoteSyncScenario } from './remote-sync.ts'
import { repositoryGrantDeletion, repositoryGrantScenario } from './repository-grant.ts'
import { tenantDeletion, tenantScenario } from './tenant.ts'
import { tokenDeskScenario } from './token-desk.ts'
import { webhookInboxScenario } from './webhook-inbox.ts'

export const scenarios: readonly Scenario[] = [
  tenantDeletion,
  remoteSyncScenario,
  remoteSyncDeletion,
  remoteSyncBranchDeletion,
  tenantScenario,
  installationSuspension,
  installationDeletion,
  repositoryGrantDeletion,
  tokenDeskScenario,
  repositoryGrantScenario,
  installationScenario,
  webhookInboxScenario,
  onboardingScenario,
  onboardingAgain,
  applicationScenario,
  applicationDeletion,
  domainClaimScenario,
  clusterGitHubAppScenario,
  applicationChartScenario,
]
