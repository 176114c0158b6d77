// The walls that the platform looks at, as data: what each protects, on which layer it stands, and as whom it
// is tried. docs/reference/walls.md is generated from this list (docs/adr/0090-walls-that-say-when-they-are-off.md).

/** `admission`: policies and webhook. */
export type WallLayer = 'admission' | 'RBAC' | 'Pod Security' | 'network'

/**
 * `compared`: what stands is compared with what this version ships. `without rights`: a request of a ServiceAccount that has no
 * right, which RBAC itself must refuse: a rule of admission behind it does not count. `controllers`: a dry run of the controllers
 * themselves, which RBAC allows and a policy must refuse.
 */
export type WallProbe = 'compared' | 'without rights' | 'controllers'

export type Wall = {
  /** The label of the metric, and the name in conditions and Events. */
  readonly name: string
  readonly protects: string
  readonly layer: WallLayer
  readonly probes: readonly WallProbe[]
  /** What is compared or tried. */
  readonly how: string
}

export const walls = [
  {
    name: 'validating-policies',
    protects: 'every rule of admission while all processes of the platform are down',
    layer: 'admission',
    probes: ['compared'],
    how: 'each ValidatingAdmissionPolicy and each of its bindings is as in deploy/policies; a field that is added counts as a difference',
  },
  {
    name: 'mutating-policies',
    protects: 'user ids, runtime classes and Services of tenants’ pods',
    layer: 'admission',
    probes: ['compared'],
    how: 'each MutatingAdmissionPolicy and its binding is as in deploy/policies',
  },
  {
    name: 'webhook-registrations',
    protects: 'spec.requestedBy, values of AppSecrets before they are stored, and the second opinion on every rule',
    layer: 'admission',
    probes: ['compared'],
    how: 'both registrations of the webhook are as in deploy/policies, apart from caBundle and from selectors that a cloud adds and that leave out no namespace of tenants or of the platform',
  },
  {
    name: 'own-writes',
    protects: 'what no list of rights names, in every namespace, from a process of the platform that was taken over',
    layer: 'admission',
    probes: ['controllers'],
    how: 'a Secret in a tenant’s namespace whose name no list of rights has, which RBAC allows to the controllers and no other rule refuses to them',
  },
  {
    name: 'secret-references',
    protects: 'reserved Secrets from pods that would mount them',
    layer: 'admission',
    probes: ['controllers'],
    how: 'two Deployments in a tenant’s namespace: one whose environment is a reserved Secret, one that mounts the token of another ServiceAccount',
  },
  {
    name: 'namespace-labels',
    protects: 'every rule that finds tenants’ namespaces by their labels',
    layer: 'admission',
    probes: ['compared'],
    how: 'both namespaces of each Tenant have its name and their purpose as labels',
  },
  {
    name: 'pod-security',
    protects: 'nodes from pods of tenants and of builds',
    layer: 'Pod Security',
    probes: ['compared', 'controllers'],
    how: 'both namespaces of each Tenant enforce restricted (where Dockerfiles are built, the policy build-pods does it in build namespaces), and a pod with the processes of its node is refused in a build namespace, by Pod Security itself',
  },
  {
    name: 'network-default-deny',
    protects: 'tenants’ pods from each other, and the platform and nodes from them',
    layer: 'network',
    probes: ['compared'],
    how: 'both namespaces of each Tenant have a policy that selects all pods and allows nothing, for both directions; whether policies are enforced is probed by connections (docs/adr/0020-probe-of-network-policies.md)',
  },
  {
    name: 'installations',
    protects: 'GitHub Apps from who would bind another account',
    layer: 'RBAC',
    probes: ['without rights'],
    how: 'an Installation in a tenant’s namespace',
  },
  {
    name: 'tenants',
    protects: 'who has which role in which namespace',
    layer: 'RBAC',
    probes: ['without rights'],
    how: 'a Tenant and a namespace, and a RoleBinding and a NetworkPolicy in a tenant’s namespace',
  },
  {
    name: 'secrets',
    protects: 'tokens, registry credentials and values of AppSecrets',
    layer: 'RBAC',
    probes: ['without rights'],
    how: 'reads of Secrets with reserved names, a list of Secrets, and a pod that would mount one, in both namespaces of a tenant and in sekisho-system',
  },
  {
    name: 'pod-connections',
    protects: 'tokens in running pods, and builds',
    layer: 'RBAC',
    probes: ['without rights'],
    how: 'exec, attach and port-forward to a pod that does not exist, in both namespaces of a tenant and in sekisho-system',
  },
  {
    name: 'account-tokens',
    protects: 'ServiceAccounts that grants name, and those of the platform',
    layer: 'RBAC',
    probes: ['without rights'],
    how: 'a token of a ServiceAccount that does not exist, in both namespaces of a tenant and in sekisho-system',
  },
] as const satisfies readonly Wall[]

export type WallName = (typeof walls)[number]['name']
