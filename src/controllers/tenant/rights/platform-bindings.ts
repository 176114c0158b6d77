// By which RoleBindings our own processes may work in a tenant's namespaces, and nowhere else. Pure. They have a finalizer:
// while a namespace is deleted, what is in it still needs its own finalizers removed, which needs these rights. Without it
// Kubernetes could delete the bindings first, and the namespace would never end.
import { controllersBinding, namespaceRoles, platformNamespace } from '../../../api/names.ts'
import type { DesiredBinding } from './role-bindings.ts'

/** The ServiceAccounts of the processes that work in tenants' namespaces; the same one each time in standalone. */
export type PlatformAccounts = { readonly broker: string; readonly controllers: string; readonly dataServices: string }

/** Removed by the Tenant controller when nothing is left that needs the binding. */
export const rightsFinalizer = 'sekisho.dev/platform-rights'

/** The bindings of one namespace. */
export function platformBindings(purpose: 'application' | 'build', accounts: PlatformAccounts): readonly DesiredBinding[] {
  return purpose === 'build'
    ? [binding(controllersBinding, namespaceRoles.controllersInBuilds, accounts.controllers)]
    : [
        binding(controllersBinding, namespaceRoles.controllersInApplications, accounts.controllers),
        binding('sekisho:broker', namespaceRoles.brokerInApplications, accounts.broker),
        binding('sekisho:data-services', namespaceRoles.dataServicesInApplications, accounts.dataServices),
      ]
}

function binding(name: string, role: string, account: string): DesiredBinding {
  return {
    name,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: platformNamespace }],
  }
}
