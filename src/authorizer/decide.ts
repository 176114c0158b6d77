// Who may not read what is the platform's, as a function of the review and of whom the administrator named. It denies or has no
// opinion; the authorizers that follow, such as RBAC, allow. A field that is missing never makes a read look like none.

import { auditCheckpoints } from '../api/audit/audit-access.ts'
import { serviceAccountUser } from '../api/builtin/service-account-user.ts'
import { platformNamespaces } from '../api/names.ts'
import { isBuildSecret, isReservedSecretName } from '../api/reserved-secrets.ts'
import type { Access, NamedSubjects } from './named-subjects.ts'
import type { AccessReview, AskedResource } from './review.ts'

const guide = 'docs/guide/authorizer.md'
const reading: readonly string[] = ['get', 'list', 'watch']
/** By these a process in a pod is reached, and so what the pod has mounted. */
const doors: readonly string[] = ['exec', 'attach', 'portforward', 'proxy', 'ephemeralcontainers']
/** Kubernetes' own groups of what is in namespaces and makes pods run or reachable, or gives access. */
const builtInGroups: readonly string[] = [
  '',
  'apps',
  'autoscaling',
  'batch',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
]

/** The reason of the refusal, with its cure; undefined is no opinion. */
export function decide({ user, groups, resource }: AccessReview, { subjects, openNamespaces }: Access): string | undefined {
  if (resource === undefined || isNamed(user, groups, subjects)) return undefined
  return becoming(resource, subjects) ?? ofPlatform(resource) ?? ofSecrets(resource, openNamespaces)
}

function isNamed(user: string, groups: readonly string[], subjects: NamedSubjects): boolean {
  return subjects.users.has(user) || groups.some(group => subjects.groups.has(group))
}

/** Whoever could become a named subject would read as that one: by impersonation, or by a token of its ServiceAccount. */
function becoming(asked: AskedResource, subjects: NamedSubjects): string | undefined {
  const { verb, resource, subresource, namespace, name } = asked
  if (resource === 'serviceaccounts' && subresource === 'token' && verb === 'create')
    return accountIsNamed(namespace, name, subjects)
      ? `tokens of the ServiceAccount ${namespace}/${name} are made by Kubernetes for its pods alone: run what needs one as a pod`
      : undefined
  // `impersonate`, and the verbs of constrained impersonation (KEP-5284), but those that say what may then be done.
  if (!verb.startsWith('impersonate') || verb.startsWith('impersonate-on:')) return undefined
  return impersonatesNamed(asked, subjects)
    ? `${resource} ${name} reads what is the platform’s, and nobody else acts in that name: act in your own, or let an administrator name you (${guide})`
    : undefined
}

function impersonatesNamed({ resource, namespace, name }: AskedResource, subjects: NamedSubjects): boolean {
  switch (resource) {
    case 'nodes':
      return true
    case 'serviceaccounts':
      return accountIsNamed(namespace, name, subjects)
    case 'groups':
      return subjects.groups.has(name)
    case 'users':
      return name.startsWith('system:node:') || isNamed(name, accountGroups(name), subjects)
    default:
      return false
  }
}

function accountIsNamed(namespace: string, name: string, subjects: NamedSubjects): boolean {
  const user = serviceAccountUser(namespace, name)
  return isNamed(user, accountGroups(user), subjects)
}

/** The groups that a ServiceAccount has by its name. */
function accountGroups(user: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]*):/.exec(user) ?? []
  return namespace === undefined ? [] : [`system:serviceaccounts:${namespace}`]
}

/** Whoever writes there starts pods with its Secrets, stops the authorizer or adds a name to its files, and then reads. */
function ofPlatform(asked: AskedResource): string | undefined {
  const { verb, subresource, namespace } = asked
  if (!platformNamespaces.includes(namespace) || isOpenToAll(asked)) return undefined
  if (!reading.includes(verb) && !doors.includes(subresource) && !changesPlatform(asked)) return undefined
  return `the namespace ${namespace} is the platform’s: an administrator names who else reads and works there (${guide})`
}

/** Of the platform's own namespace: what platform admins write with `sekisho halt --platform` has no secrets. */
const halts = { group: 'github.sekisho.dev', resource: 'halts' }

/** The namespace itself, what auditors compare, which is signed, and Halts: RBAC decides. */
function isOpenToAll({ verb, group, resource, name }: AskedResource): boolean {
  if (group === halts.group && resource === halts.resource) return true
  if (group !== '') return false
  return resource === 'namespaces' || (resource === 'configmaps' && verb === 'get' && name === auditCheckpoints)
}

/** Not what network plugins and load balancers write, Events, objects of other products, or evictions, which budgets bound. */
function changesPlatform({ group, resource, subresource }: AskedResource): boolean {
  return builtInGroups.includes(group) && resource !== 'events' && !['status', 'eviction'].includes(subresource)
}

function ofSecrets(asked: AskedResource, openNamespaces: ReadonlySet<string>): string | undefined {
  const { verb, group, resource, namespace, name } = asked
  // Only a create shows nothing of what is stored: errors and dry runs of all other verbs do.
  if (!isSecret(group, resource) || verb === 'create') return undefined
  // One name in all namespaces is that of any Secret there, the App keys among them.
  if (name === '' || namespace === '') return openNamespaces.has(namespace) ? undefined : unnamed(verb, namespace)
  if (isReservedSecretName(name) || isBuildSecret(namespace, name))
    return `the Secret ${name} is the platform’s: pods get its values by reference, and an administrator names who else reads it (${guide})`
  return undefined
}

function unnamed(verb: string, namespace: string): string {
  const where = namespace === '' ? 'all namespaces' : namespace
  return `${verb} of all Secrets in ${where} would show the platform’s as well: name one Secret, or let an administrator name you or the namespace (${guide})`
}

function isSecret(group: string, resource: string): boolean {
  return group === '' && resource === 'secrets'
}
