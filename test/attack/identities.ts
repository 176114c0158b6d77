// The people and machines of the attacks. All of them have cluster-admin through a group, so that only admission can refuse.
import type { Identity } from './impersonation.ts'

export type { Identity } from './impersonation.ts'

/** Bound to cluster-admin by the fixtures. */
export const everything = 'attack:everything'

const person = (id: number, ...groups: readonly string[]): Identity => ({
  user: `github|github.localhost|${id}`,
  groups: [everything, ...groups],
})

const serviceAccount = (namespace: string, name: string): Identity => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: [everything, 'system:serviceaccounts', `system:serviceaccounts:${namespace}`],
})

export const dave = person(1002)
export const mia = person(1003)
export const clusterAdministrator: Identity = { user: 'root', groups: ['system:masters'] }
export const platformAdministrator = person(1, 'sekisho:platform-admins')
export const platform = serviceAccount('sekisho-system', 'sekisho')
/** Same name, wrong namespace. */
export const impostor = serviceAccount('acme', 'sekisho')
export const namespaceController = serviceAccount('kube-system', 'namespace-controller')
export const garbageCollector = serviceAccount('kube-system', 'generic-garbage-collector')
export const replicaSetController = serviceAccount('kube-system', 'replicaset-controller')
export const endpointSliceController = serviceAccount('kube-system', 'endpointslice-controller')
