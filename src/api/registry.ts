// Every kind of the product, in the order in which they are installed. A new kind is one file here and one line below.
import { application } from './application.ts'
import { applicationChart } from './application-chart.ts'
import { clusterGitHubApp } from './cluster-github-app.ts'
import { installation } from './installation.ts'
import type { KindDefinition } from './kind.ts'
import { remoteSync } from './remote-sync.ts'
import { repositoryGrant } from './repository-grant.ts'
import { tenant } from './tenant.ts'

export const kinds: readonly KindDefinition[] = [
  tenant,
  clusterGitHubApp,
  installation,
  repositoryGrant,
  applicationChart,
  application,
  remoteSync,
]
