// How long the deletion of a pod may take: whoever deletes a pod may ask for more time than its own grace period, and
// Kubernetes never shortens it by itself. For everybody, platform admins and `kubectl drain --grace-period` included. A policy
// only: a webhook would be asked about every pod that ends in the cluster's tenants, for a number that the API server can
// compare itself.
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination-forced
import { maxGraceSeconds } from '../../../api/apps/application/process.ts'
import type { PolicyRule } from '../../rule.ts'

/** DELETE, deletecollection (for each pod), and evictions, which have the options in their body. */
export const podDeletion: PolicyRule = {
  name: 'pod-deletion',
  stops: 'a deletion or eviction of a pod that takes years',
  scope: 'tenant-namespaces',
  matches: [
    { group: '', resources: ['pods'], operations: ['DELETE'] },
    { group: '', resources: ['pods/eviction'], operations: ['CREATE'] },
  ],
  policy: () => ({
    variables: [
      {
        name: 'seconds',
        expression:
          "request.operation == 'DELETE' ? dyn(request).?options.?gracePeriodSeconds.orValue(0) : dyn(object).?deleteOptions.?gracePeriodSeconds.orValue(0)",
      },
    ],
    validation: {
      expression: `variables.seconds <= ${maxGraceSeconds}`,
      message: `gracePeriodSeconds of a deletion in a tenant’s namespace must be at most ${maxGraceSeconds}: ask for less, or omit it`,
    },
  }),
}
