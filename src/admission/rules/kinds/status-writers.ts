// The status of our kinds is the platform's record of its own decisions: the token desk issues tokens by the status of a grant.
import { kinds } from '../../../api/registry.ts'
import { celList, type Rule } from '../../rule.ts'

const message = 'only the platform writes the status of its kinds: change the spec instead'

/** Only the controllers, and not platform admins either: a status says what was observed. */
export const statusWriters: Rule = {
  name: 'status-writers',
  stops: 'writing the approval of a grant, the proof of an account or the result of a build into a status',
  scope: 'everywhere',
  matches: kinds.map(({ group, plural }) => ({ group, resources: [`${plural}/status`], operations: ['UPDATE'] })),
  check: ({ username }, { controllers }) => (controllers.includes(username) ? undefined : message),
  policy: ({ controllers }) => ({
    variables: [],
    validation: { expression: `request.userInfo.username in ${celList(controllers)}`, message },
  }),
}
