// GitHubReports say what the platform wrote to GitHub, and in which comment and deployment it goes on writing.
import { githubReport } from '../../../api/apps/github-report.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message = 'GitHubReports are written by the platform: they follow from an AppPipeline, or from spec.report of a RemoteSync'

/**
 * The controllers create and delete; Kubernetes' reapers delete with the owner; platform admins repair. The spec is immutable.
 */
export const reportWriters: Rule = {
  name: 'report-writers',
  stops: 'having the platform write on another pull request or commit under the grant of somebody else’s object',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: reaping,
  matches: [{ group: githubReport.group, resources: [githubReport.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check: ({ username }, { controllers, reapers }) =>
    controllers.includes(username) || reapers.includes(username) ? undefined : message,
  policy: ({ controllers, reapers }) => ({
    variables: [],
    validation: { expression: `request.userInfo.username in ${celList([...controllers, ...reapers])}`, message },
  }),
}
