// The status of our kinds is the platform's record of its own decisions: the token desk issues tokens by the status of a grant.
import { domain } from '../../../api/kind.ts'
import { kinds } from '../../../api/registry.ts'
import { celList, celText, type Rule } from '../../rule.ts'

const message = 'only the platform writes the status of its kinds: change the spec instead'

const services = `services.${domain}`

/** Only the process that observes, and not platform admins either: a status says what was observed. */
export const statusWriters: Rule = {
  name: 'status-writers',
  stops: 'writing the approval of a grant, the proof of an account or the result of a build into a status',
  scope: 'everywhere',
  matches: kinds.map(({ group, plural }) => ({ group, resources: [`${plural}/status`], operations: ['UPDATE'] })),
  check: ({ group, username }, { controllers, dataServices }) =>
    (group === services ? dataServices : controllers).includes(username) ? undefined : message,
  policy: ({ controllers, dataServices }) => ({
    variables: [],
    validation: {
      expression: `request.userInfo.username in (request.resource.group == ${celText(services)} ? ${celList(dataServices)} : ${celList(controllers)})`,
      message,
    },
  }),
}
