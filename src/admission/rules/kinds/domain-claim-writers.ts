// A DomainClaim says to which tenant a host name belongs; the Application controller and the ingress rely on it.
import { domainClaim } from '../../../api/tenancy/domain-claim.ts'
import { celList, type Rule } from '../../rule.ts'
import { reaping } from './writers.ts'

const message =
  'DomainClaims are written by the platform, which checks the proof, and by platform admins: list the host in spec.domains of an Application instead'

/** Controllers and platform admins write; Kubernetes' reapers delete with the Tenant. */
export const domainClaimWriters: Rule = {
  name: 'domain-claim-writers',
  stops: 'taking a host name without proof, or taking it away from the tenant to whom it belongs',
  scope: 'everywhere',
  administratorsMay: true,
  exempts: reaping,
  matches: [
    {
      group: domainClaim.group,
      resources: [domainClaim.plural],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  check: ({ username }, { controllers, reapers }) =>
    controllers.includes(username) || reapers.includes(username) ? undefined : message,
  policy: ({ controllers, reapers }) => ({
    variables: [],
    validation: { expression: `request.userInfo.username in ${celList([...controllers, ...reapers])}`, message },
  }),
}
