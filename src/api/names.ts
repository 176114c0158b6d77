// Names on which several processes must agree: labels, annotations, reserved prefixes, roles, and how people and groups are spelled. Data and
// pure functions; a changed value breaks objects that exist.
import { domain } from './kind.ts'

/** A change of this annotation makes the controller check the object. The broker sets it when a webhook affects the object. */
export const wakeAnnotation = `${domain}/wake`

/** Labels of objects that the platform creates. */
export const labels = {
  tenant: `${domain}/tenant`,
  namespacePurpose: `${domain}/purpose`,
  application: `${domain}/application`,
  process: `${domain}/process`,
  managedBy: 'app.kubernetes.io/managed-by',
} as const

/** Secrets whose names begin with this belong to the platform: admission refuses every use of them by a tenant. */
export const reservedSecretPrefix = 'ghtok-'

/** Secrets whose names begin with this hold the platform's credentials for the image registry: only the platform makes or changes them. */
export const registrySecretPrefix = 'sekisho-registry-'

/** The Secrets with registry credentials: of builds in a build namespace, of pods in a tenant's namespace, of kpack in the platform's. */
export const registrySecrets = {
  build: `${registrySecretPrefix}build`,
  pull: `${registrySecretPrefix}pull`,
  platform: `${registrySecretPrefix}platform`,
} as const

/** On a Tenant: a platform admin changes its value to revoke the tenant's registry credentials at once and to have new ones made. */
export const registryGenerationAnnotation = `${domain}/registry-generation`

/** The audience a workload's ServiceAccount token must have for the token desk. */
export const tokenDeskAudience = 'sekisho'

/** The OIDC client id of kubectl, which is the audience that the API server requires. */
export const kubernetesClientId = 'kubernetes'

/** The namespace in which the platform runs. No tenant has access to it. */
export const platformNamespace = 'sekisho-system'

/** The namespace in which builds of the tenant of `namespace` run. */
export function buildNamespaceOf(namespace: string): string {
  return `${namespace}-build`
}

/** The user name of a person in Kubernetes and in the audit log. By number, because another person can take over a login. */
export function userSubject(host: string, userId: number): string {
  return `github|${host}|${userId}`
}

/**
 * The inverse of `userSubject`. Undefined for everything else: ServiceAccounts, certificates, and ids above 15 digits, which JavaScript could
 * round to the id of another person.
 */
export function parseUserSubject(subject: string): { readonly host: string; readonly userId: number } | undefined {
  const match = /^github\|([a-z0-9][a-z0-9.:-]*)\|([1-9][0-9]{0,14})$/.exec(subject)
  return match?.[1] && match[2] ? { host: match[1], userId: Number(match[2]) } : undefined
}

/** The groups of a person. By number, because names of organizations and teams can be taken over. */
export const groups = {
  team: (host: string, organizationId: number, teamId: number): string => `github|${host}|org|${organizationId}|team|${teamId}`,
  owners: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|owners`,
  members: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|members`,
} as const

/** True for exactly the names that the functions of `groups` return. */
export function isGroup(name: string): boolean {
  return /^github\|[a-z0-9][a-z0-9.:-]*\|org\|[1-9][0-9]{0,14}\|(owners|members|team\|[1-9][0-9]{0,14})$/.test(name)
}

/**
 * Who administers the platform: whoever RBAC allows this verb on this resource. The resource has no objects; the ClusterRole
 * `sekisho:platform-admin` (deploy/rbac/platform.yaml) contains the rule, and cluster administrators have it by `*`.
 */
export const platformAdministration = { group: domain, resource: 'platforms', verb: 'administer' } as const

/** Role in `Tenant.spec.roles` → the ClusterRole that is bound in the namespace of the tenant (deploy/rbac/tenant-roles.yaml). */
export const tenantRoles = {
  viewer: 'sekisho:tenant-viewer',
  developer: 'sekisho:tenant-developer',
  admin: 'sekisho:tenant-admin',
} as const
