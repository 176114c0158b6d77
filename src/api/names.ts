// Names on which several processes must agree: labels, annotations, reserved prefixes, roles, and how people and groups are
// spelled. Data and pure functions; a changed value breaks objects that exist.
import { hashedName } from '../lib/text/bounded-name.ts'
import { kebabCase } from '../lib/text/kebab-case.ts'
import { domain } from './kind.ts'
import { isPerson } from './tenancy/subject-patterns.ts'

/** Whether a key of labels or annotations, or an API group, belongs to the platform: admission refuses it from people. */
export function isReservedKey(key: string): boolean {
  return key.startsWith(`${domain}/`) || key.includes(`.${domain}/`)
}

/** A change of this annotation makes the controller check the object. The broker sets it when a webhook affects the object. */
export const wakeAnnotation = `${domain}/wake`

/** Which pull request a wake is about. `unknown`: about one pull request, and the broker does not know which. */
export type WokenPullRequest = number | 'unknown'

export type Wake = {
  readonly receivedAt: Date
  readonly deliveryId: string
  /** Undefined: about the repository, the account or a person. */
  readonly pullRequest: WokenPullRequest | undefined
}

/**
 * The value of the wake annotation: `<RFC 3339 time>/<delivery id>`, and `/pull/<number>` for what is about one pull request. A
 * hint: the next one replaces it, also before anybody has seen it, so that what it is about must be found without it as well.
 */
export function wakeText({ receivedAt, deliveryId, pullRequest }: Wake): string {
  const about = pullRequest === undefined ? '' : `/pull/${pullRequest}`
  return `${receivedAt.toISOString()}/${deliveryId}${about}`
}

/** The pull request that a wake is about; undefined for every other text, which may be about all of them. */
export function pullRequestOfWake(wake: string): WokenPullRequest | undefined {
  const [, about] = /^[^/]*\/[^/]*\/pull\/(unknown|[1-9]\d{0,9})$/.exec(wake) ?? []
  return about === undefined || about === 'unknown' ? about : Number(about)
}

/** The attribute of an Application that makes the root file system writable, for images that write beside their code. */
export const writableRootAttribute = 'writable-root-filesystem'

/** Labels of objects that the platform creates. */
export const labels = {
  tenant: `${domain}/tenant`,
  namespacePurpose: `${domain}/purpose`,
  /** On both namespaces of a tenant: the first of its user ids on the nodes (src/lib/limits/user-range.ts). */
  firstUser: `${domain}/first-user`,
  /**
   * On both namespaces of a tenant: the RuntimeClass of their pods, and that of the pods of isolated Applications
   * (Tenant.spec.runtimeClass).
   */
  runtimeClass: `${domain}/runtime-class`,
  isolatedRuntimeClass: `${domain}/isolated-runtime-class`,
  application: `${domain}/application`,
  process: `${domain}/process`,
  /** On a release job and its pods: the number of the release. */
  release: `${domain}/release`,
  /** On what belongs to a preview: the name of its AppPipeline, the id of the repository, the number of its pull request. */
  appPipeline: `${domain}/app-pipeline`,
  repository: `${domain}/repository`,
  pullRequest: `${domain}/pull-request`,
  /** On the pods of isolated Applications: network policies cut them off by it. */
  isolated: `${domain}/isolated`,
  /**
   * On an Ingress that redirects its hosts: it alone carries the annotations of the administrator, and no chart can render it.
   */
  redirect: `${domain}/redirect`,
  managedBy: 'app.kubernetes.io/managed-by',
} as const

/** The label on what objects of a kind own: its value is the name of the owner. `sekisho.dev/app-pipeline` for an AppPipeline. */
export function ownerLabel(kind: string): string {
  return `${domain}/${kebabCase(kind)}`
}

/** In characters, of an owned Application: names and host names that are derived from it then fit into 63. */
const maxOwnedName = 40
const maxPart = 20

/**
 * The name of an Application that another object owns, and of its RemoteSync: `<owner>-<part>`, a DNS label. A hash replaces
 * the end of what is too long, and belongs to what is not a DNS label, so that no two parts of one owner have the same name.
 */
export function ownedName(owner: string, part: string): string {
  const isPlain = part.length <= maxPart && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part)
  const slug = part.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const end = `-${isPlain ? part : hashedName(slug, maxPart, { of: part, length: 8 })}`
  const max = maxOwnedName - end.length
  if (owner.length <= max && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(owner)) return `${owner}${end}`
  const begin = `p${owner}`.slice(/^[a-z]/.test(owner) ? 1 : 0).replaceAll(/[^a-z0-9]+/g, '-')
  return `${hashedName(begin, max, { of: owner, length: 8 })}${end}`
}

/** The name of the Application and of the RemoteSync of a preview: `<pipeline>-pr-<number>`. */
export function previewName(pipeline: string, number: number): string {
  return ownedName(pipeline, `pr-${number}`)
}

/**
 * Kubernetes' label on the pods of a Job:
 * https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name
 */
export const jobNameLabel = 'batch.kubernetes.io/job-name'

/** The ServiceAccount of the pods of isolated Applications, in each tenant's namespace: without rights, named by no grant. */
export const isolatedServiceAccount = 'sekisho-isolated'

/** Secrets whose names begin with this hold GitHub tokens: only pods under the ServiceAccount in the name may refer to one. */
export const reservedSecretPrefix = 'ghtok-'

/** Secrets whose names begin with this hold the platform's credentials for the image registry; only it changes them. */
export const registrySecretPrefix = 'sekisho-registry-'

/**
 * The Secrets with registry credentials: of builds in a build namespace, of pods in a tenant's namespace, of kpack in the
 * platform's.
 */
export const registrySecrets = {
  build: `${registrySecretPrefix}build`,
  pull: `${registrySecretPrefix}pull`,
  platform: `${registrySecretPrefix}platform`,
} as const

/** The Secrets behind AppSecrets: only the platform makes or changes them; pods of the namespace may refer to them. */
export const appSecretPrefix = 'appsecret-'

/** The name of the Secret that holds the values of the AppSecret of that name, for pods of the same namespace. */
export function appSecretSecretName(appSecret: string): string {
  return `${appSecretPrefix}${appSecret}`
}

/** The Secrets in build namespaces with the values that one build gets. */
export const buildSecretPrefix = 'build-secrets-'

/**
 * On pod templates of Applications: a hash of the AppSecrets that they use and of their versions, so that a change of a value
 * rolls the pods.
 */
export const secretsAnnotation = `${domain}/secrets`

/** On an Application: `spec.commit`, when a RemoteSync took the image of a preview instead of building it. */
export const promotedAnnotation = `${domain}/promoted`

/** On an Application: `spec.image`, when it is the image before on another run image. */
export const rebasedAnnotation = `${domain}/rebased`

/**
 * On an Application: which user made the last changes of its spec (src/api/apps/application/changed-by.ts). Nobody else can set
 * it.
 */
export const changedByAnnotation = `${domain}/changed-by`

/**
 * What the API server adds to a person who signed in with GitHub (AuthenticationConfiguration, docs/guide/install.md): the
 * login, for display only.
 */
export const loginExtra = `${domain}/login`

/** On pod templates of Applications: `spec.restartedAt`, so that a change of it replaces the pods. */
export const restartedAnnotation = `${domain}/restarted-at`

/** The ConfigMap in the platform's namespace with the public key that values of AppSecrets are sealed to, and the field of it. */
export const appSecretsKeyMap = { name: 'sekisho-app-secrets-key', field: 'key.json' } as const

/**
 * On a namespace of a tenant, beside the labels of the same names: the tolerations of a RuntimeClass (`tolerationText`),
 * separated by commas.
 */
export const runtimeTolerationsAnnotation = `${domain}/runtime-class-tolerations`
export const isolatedRuntimeTolerationsAnnotation = `${domain}/isolated-runtime-class-tolerations`

/**
 * On pod templates of Applications: the RuntimeClass that the platform gives their pods, so that a change of it replaces the
 * pods.
 */
export const runtimeClassAnnotation = `${domain}/runtime-class`

/**
 * On a Tenant: a platform admin changes its value to revoke the tenant's registry credentials at once and to have new ones
 * made.
 */
export const registryGenerationAnnotation = `${domain}/registry-generation`

/** On a PersistentVolumeClaim that a chart renders: `Keep` when it must outlive its Application, `Delete` otherwise. */
export const whenDeletedAnnotation = `${domain}/when-deleted`

/** The audience a workload's ServiceAccount token must have for the token desk. */
export const tokenDeskAudience = 'sekisho'

/** The OIDC client id of kubectl, which is the audience that the API server requires. */
export const kubernetesClientId = 'kubernetes'

/** The namespace in which the platform runs. No tenant has access to it. */
export const platformNamespace = 'sekisho-system'
/** The Secrets with the accounts of shared servers. */
export const dataServicesNamespace = 'sekisho-data'
/** Those in which only the platform and its admins work. */
export const platformNamespaces: readonly string[] = [platformNamespace, dataServicesNamespace]

/** The namespace in which builds of the tenant of `namespace` run. */
export function buildNamespaceOf(namespace: string): string {
  return `${namespace}-build`
}

/** Its own and that of its builds. */
export const namespacesOf = (namespace: string): readonly [string, string] => [namespace, buildNamespaceOf(namespace)]

/** The user name of a person in Kubernetes and in the audit log. By number, because another person can take over a login. */
export function userSubject(host: string, userId: number): string {
  return `github|${host}|${userId}`
}

/** For people: the login of a person, where it is known, beside the user name, which identifies the person. */
export function personText(user: string, login: string | undefined): string {
  return login === undefined ? user : `${login} (${user})`
}

/**
 * The inverse of `userSubject`. Undefined for everything else: ServiceAccounts, certificates, and ids above 15 digits, which
 * JavaScript could round to the id of another person.
 */
export function parseUserSubject(subject: string): { readonly host: string; readonly userId: number } | undefined {
  const [, host, id] = isPerson(subject) ? subject.split('|') : []
  return host === undefined ? undefined : { host, userId: Number(id) }
}

/** The groups of a person. By number, because names of organizations and teams can be taken over. */
export const groups = {
  team: (host: string, organizationId: number, teamId: number): string => `github|${host}|org|${organizationId}|team|${teamId}`,
  owners: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|owners`,
  members: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|members`,
} as const

export { isGroup } from './tenancy/subject-patterns.ts'

/**
 * Who administers the platform: whoever RBAC allows this verb on this resource. The resource has no objects; the ClusterRole
 * `sekisho:platform-admin` (deploy/rbac/platform-admin.yaml) contains the rule, and cluster administrators have it by `*`.
 */
export const platformAdministration = { group: domain, resource: 'platforms', verb: 'administer' } as const

/**
 * Who may read the logs of a tenant's builds: whoever RBAC allows this on the RemoteSync. The subresource is not served by the
 * API server; the roles of tenants contain it, and the broker asks for it.
 */
export const buildLogAccess = { group: `apps.${domain}`, resource: 'remotesyncs', subresource: 'log', verb: 'get' } as const

/** Role in `Tenant.spec.roles` → the ClusterRole that is bound in the namespace of the tenant (deploy/rbac/tenant-roles.yaml). */
export const tenantRoles = {
  viewer: 'sekisho:tenant-viewer',
  developer: 'sekisho:tenant-developer',
  admin: 'sekisho:tenant-admin',
  auditor: 'sekisho:tenant-auditor',
} as const

/** `standalone`: one process, one ServiceAccount (src/standalone.ts); `production`: a process and a ServiceAccount for each. */
export const modes = ['standalone', 'production'] as const
export type Mode = (typeof modes)[number]

/**
 * With what the names of the builds begin that only replace the run image of this RemoteSync's image. No other build of it
 * begins so: what follows the prefix of those is hexadecimal.
 */
export function rebasePrefix(remoteSync: string): string {
  return `${remoteSync.slice(0, 30).replaceAll('.', '-').replace(/-+$/, '')}-rebase-`
}

/** The processes of the platform, which hold different rights. */
export const platformProcesses = ['broker', 'controllers', 'admission', 'data-services'] as const
export type PlatformProcess = (typeof platformProcesses)[number]

/** The name of a process's ServiceAccount in the platform's namespace; of its Lease too, where it has one. */
export function platformServiceAccount(mode: Mode, process: PlatformProcess): string {
  return mode === 'standalone' ? 'sekisho' : `sekisho-${process}`
}

/**
 * The admission webhook: both of its registrations, its Service and so the name in its certificate, and the Secret with that
 * certificate.
 */
export const admissionWebhook = {
  registration: 'sekisho-admission',
  service: 'sekisho-admission',
  secret: 'sekisho-admission-tls',
  /** The Service of the controllers by which API servers say who changes access; the same certificate serves there. */
  recordsService: 'sekisho-access-records',
} as const

/** The name of the RoleBinding by which the controllers work in a namespace of a tenant. */
export const controllersBinding = 'sekisho:controllers'

/** The ClusterRoles of our own processes in the namespaces of a tenant: only the Tenant controller binds them, and only there. */
export const namespaceRoles = {
  brokerInApplications: 'sekisho:broker-application-namespace',
  controllersInApplications: 'sekisho:controllers-application-namespace',
  controllersInBuilds: 'sekisho:controllers-build-namespace',
  dataServicesInApplications: 'sekisho:data-services-application-namespace',
} as const
