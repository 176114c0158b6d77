// The kinds by which platform admins set up the platform: as which GitHub App it acts, and which code turns Applications into
// objects.
import { applicationChart } from '../../../api/apps/application-chart.ts'
import { clusterGitHubApp } from '../../../api/github/cluster-github-app.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from './writers.ts'

const message = 'only platform admins write ClusterGitHubApps and ApplicationCharts: ask one of them'

/** Platform admins write; controllers and Kubernetes' reapers maintain. */
export const platformKinds: Rule = {
  name: 'platform-kinds',
  stops: 'sending the App’s credentials to another server, or running code of one’s own in the controllers',
  scope: 'everywhere',
  administratorsMay: true,
  matches: [clusterGitHubApp, applicationChart].map(({ group, plural }) => ({
    group,
    resources: [plural],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  })),
  ...onlyWrittenBy(() => [], message),
}
