// A Halt in the namespace of the platform holds for everybody, so platform admins alone create and lift it there. RBAC gives
// nobody else that right; this holds also where somebody has bound a role too wide.
import { halt } from '../../../api/github/halt.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from '../kinds/writers.ts'

const message =
  'only platform admins halt and lift in this namespace: what is of a tenant is halted in the namespace of the tenant'

/** Controllers and Kubernetes' reapers maintain. */
export const platformHalts: Rule = {
  name: 'platform-halts',
  stops: 'lifting the Halt of a platform admin, or halting other tenants',
  scope: 'platform-namespace',
  administratorsMay: true,
  matches: [{ group: halt.group, resources: [halt.plural], operations: ['CREATE', 'UPDATE'] }],
  ...onlyWrittenBy(() => [], message),
}
