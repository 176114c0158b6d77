// The NetworkPolicies by which the pods of an Application reach the servers of its services, and no other pods of the tenant do:
// those that the platform runs, and those of `sekisho run`. Policies add up: the others are the Tenant controller's. Pure.
// Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
import { networkPolicies } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import { taskLabel } from '../../../api/task-names.ts'
import type { JsonObject } from '../../../lib/json/json-value.ts'
import { boundedName } from '../../../lib/text/bounded-name.ts'
import type { Reach } from './service-facts.ts'

/** Labels have values of at most 63 characters, and so have the names of Applications. */
function policy(name: string, label: string, application: string, reach: readonly Reach[]): JsonObject {
  const { apiVersion, kind } = networkPolicies
  const egress = reach.map(({ cidrs, port }) => ({
    to: cidrs.map(cidr => ({ ipBlock: { cidr } })),
    ports: [{ protocol: 'TCP', port }],
  }))
  return {
    apiVersion,
    kind,
    metadata: { name },
    spec: { podSelector: { matchLabels: { [label]: application } }, policyTypes: ['Egress'], egress },
  }
}

/** None without services. Nobody runs commands in an isolated Application. */
export function reachPolicies(
  application: string,
  { reach = [], isolated }: { readonly reach?: readonly Reach[] | undefined; readonly isolated?: boolean | undefined },
): readonly JsonObject[] {
  if (reach.length === 0) return []
  const name = boundedName(`sekisho-services-${application}`, 200)
  return [
    policy(name, labels.application, application, reach),
    ...(isolated === true ? [] : [policy(`${name}-run`, taskLabel, application, reach)]),
  ]
}
