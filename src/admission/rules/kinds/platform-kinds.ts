// The kinds by which platform admins set up the platform: as which GitHub App it acts, which code turns Applications into
// objects, and what tenants may allow at most.
import { applicationChart } from '../../../api/apps/application-chart.ts'
import { clusterGitHubApp } from '../../../api/github/cluster-github-app.ts'
import { clusterGrantPolicy } from '../../../api/github/grant-policy.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from './writers.ts'

const message = 'only platform admins write ClusterGitHubApps, ApplicationCharts and ClusterGrantPolicies: ask one of them'

/** Platform admins write; controllers and Kubernetes' reapers maintain. */
export const platformKinds: Rule = {
  name: 'platform-kinds',
  stops:
    'sending the App’s credentials to another server, running code of one’s own in the controllers, or letting tenants allow more',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [clusterGitHubApp, applicationChart, clusterGrantPolicy].map(({ group, plural }) => ({
    group,
    resources: [plural],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  })),
  ...onlyWrittenBy(() => [], message),
}
