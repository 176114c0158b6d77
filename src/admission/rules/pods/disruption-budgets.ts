// PodDisruptionBudgets of tenants: one that allows no disruption keeps every node with a pod of it from being drained. A number
// of pods that must be available cannot be compared with how many there will be, and a percentage is rounded up to all of few;
// so only `maxUnavailable` is allowed, and pods that are not ready may always be evicted. Two budgets for one pod, and pods
// without a controller, still block an eviction: the guide names the drain that deletes instead.
// Source: https://kubernetes.io/docs/tasks/run-application/configure-pdb/
import { type JsonObject, objectAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Rule } from '../../rule.ts'

const message =
  'a PodDisruptionBudget in a tenant’s namespace must let nodes be drained: set maxUnavailable to at least 1 or 1%, unhealthyPodEvictionPolicy to AlwaysAllow, and omit minAvailable'

function allowsDisruption(spec: JsonObject | undefined): boolean {
  const most = spec?.['maxUnavailable']
  const some = typeof most === 'number' ? most > 0 : typeof most === 'string' && /[1-9]/.test(most)
  return some && spec?.['unhealthyPodEvictionPolicy'] === 'AlwaysAllow'
}

/** `minAvailable` and `maxUnavailable` exclude each other (the API server sees to it). */
export const disruptionBudgets: Rule = {
  name: 'disruption-budgets',
  stops: 'keeping a node from being drained',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches: [{ group: 'policy', resources: ['poddisruptionbudgets'], operations: ['CREATE', 'UPDATE'] }],
  check({ object, oldObject }) {
    const [now, before] = [objectAt(object, 'spec'), objectAt(oldObject, 'spec')]
    return (before !== undefined && sameJson(now, before)) || allowsDisruption(now) ? undefined : message
  },
  policy: () => ({
    variables: [
      { name: 'most', expression: "dyn(object).?spec.?maxUnavailable.orValue('')" },
      { name: 'same', expression: 'oldObject != null && dyn(object).?spec == dyn(oldObject).?spec' },
    ],
    validation: {
      expression:
        "variables.same || ((type(variables.most) == int ? variables.most > 0 : variables.most.matches('[1-9]')) && dyn(object).?spec.?unhealthyPodEvictionPolicy.orValue('') == 'AlwaysAllow')",
      message,
    },
  }),
}
