// Every kind of the product, in the order in which they are installed. A new kind is one file here and one line below.
import { application } from './apps/application.ts'
import { applicationChart } from './apps/application-chart.ts'
import { remoteSync } from './apps/remote-sync.ts'
import { clusterGitHubApp } from './github/cluster-github-app.ts'
import { installation } from './github/installation.ts'
import { repositoryGrant } from './github/repository-grant.ts'
import type { KindDefinition } from './kind.ts'
import { tenant } from './tenancy/tenant.ts'

export const kinds: readonly KindDefinition[] = [
  tenant,
  clusterGitHubApp,
  installation,
  repositoryGrant,
  applicationChart,
  application,
  remoteSync,
]
