// Releases are the record of what an Application ran: the controllers write them, and roll back to what they say.
import { release } from '../../../api/apps/release.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from './writers.ts'

const message =
  'Releases are written by the platform when what an Application runs changes: set spec.pinnedRelease of the Application to run one of them again'

/**
 * The controllers create and delete; Kubernetes' reapers delete with the Application; platform admins repair. The spec is
 * immutable.
 */
export const releaseWriters: Rule = {
  name: 'release-writers',
  stops: 'running another image or command than was released, by a forged release to which an Application rolls back',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: reaping,
  matches: [{ group: release.group, resources: [release.plural], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check: ({ username }, { controllers, reapers }) =>
    controllers.includes(username) || reapers.includes(username) ? undefined : message,
  policy: ({ controllers, reapers }) => ({
    variables: [],
    validation: { expression: `request.userInfo.username in ${celList([...controllers, ...reapers])}`, message },
  }),
}
