// The people and machines of the attacks. All of them may do everything but administer the platform, so that only admission can
// refuse.
import type { Identity } from './impersonation.ts'

export type { Identity } from './impersonation.ts'

/** Bound by the fixtures to a role that allows everything but `administer` on platforms, which makes a platform admin. */
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
/** Halted by a platform admin, and by an admin of the tenant acme. */
export const leaver = person(1009)
export const sidelined = person(1010)
/** Has `administer` as everything else. */
export const clusterAdministrator: Identity = { user: 'root', groups: ['system:masters'] }
/** Bound to the ClusterRole with `administer` by the fixtures. */
export const platformAdministrator = person(1)
/** The platform's processes in the production form; matrix.ts renames those that write for the standalone form. */
export const broker = serviceAccount('sekisho-system', 'sekisho-broker')
export const controllers = serviceAccount('sekisho-system', 'sekisho-controllers')
export const dataServices = serviceAccount('sekisho-system', 'sekisho-data-services')
/** Has no right and is named by no rule. */
export const admission = serviceAccount('sekisho-system', 'sekisho-admission')
/** Same name, wrong namespace. */
export const impostor = serviceAccount('acme', 'sekisho-controllers')
export const namespaceController = serviceAccount('kube-system', 'namespace-controller')
export const garbageCollector = serviceAccount('kube-system', 'generic-garbage-collector')
export const replicaSetController = serviceAccount('kube-system', 'replicaset-controller')
export const endpointSliceController = serviceAccount('kube-system', 'endpointslice-controller')
/** Publishes kube-root-ca.crt in every namespace. */
export const rootCertificatePublisher = serviceAccount('kube-system', 'root-ca-cert-publisher')
/** Binds claims to volumes. */
export const volumeController = serviceAccount('kube-system', 'persistent-volume-binder')
/** cert-manager in its usual place, and a ServiceAccount of the same name in a tenant's namespace. */
export const certManager = serviceAccount('cert-manager', 'cert-manager')
export const falseCertManager = serviceAccount('acme', 'cert-manager')
/** Make claims from the templates in StatefulSets and in pods. */
export const statefulSetController = serviceAccount('kube-system', 'statefulset-controller')
export const ephemeralVolumeController = serviceAccount('kube-system', 'ephemeral-volume-controller')
/** All of Kubernetes' controllers where they have no ServiceAccounts of their own. */
export const controllerManager: Identity = { user: 'system:kube-controller-manager', groups: [everything] }
export const scheduler: Identity = { user: 'system:kube-scheduler', groups: [everything] }
export const daemonSetController = serviceAccount('kube-system', 'daemon-set-controller')
export const jobController = serviceAccount('kube-system', 'job-controller')
/** Copies the labels of a Build to its pods in the build namespace. */
export const buildController = serviceAccount('kpack', 'controller')
