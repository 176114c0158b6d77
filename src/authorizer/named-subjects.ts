// Who the authorizer has no opinion about, and where nothing is the platform's: what every cluster has, and what an administrator
// names in two files. Parsing alone; access-files.ts reads them.
import { serviceAccountUser } from '../api/builtin/service-account-user.ts'
import { platformNamespace } from '../api/names.ts'
import { platformAccounts } from '../api/rights/index.ts'
import { AppError } from '../lib/errors.ts'

/** Whoever is one of these is left to the authorizers that follow. */
export type NamedSubjects = { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }

export type Access = {
  readonly subjects: NamedSubjects
  /** Namespaces in which Secrets may be listed and watched. */
  readonly openNamespaces: ReadonlySet<string>
}

/**
 * Kubernetes' own: kubelets, and what runs in kube-system. Whoever may start pods there has the cluster anyway.
 */
export const kubernetesSubjects = {
  users: ['system:apiserver', 'system:kube-controller-manager', 'system:kube-scheduler', 'system:kube-proxy'],
  groups: ['system:masters', 'system:nodes', 'system:serviceaccounts:kube-system'],
} as const

/** The platform's ServiceAccounts in both forms; kpack's, which reads the registry credentials of builds by name. */
export const platformUsers: readonly string[] = [
  ...platformAccounts.map(({ name }) => serviceAccountUser(platformNamespace, name)),
  serviceAccountUser('kpack', 'controller'),
]

/** Would leave the wall open to everybody. */
const everybody = ['system:authenticated', 'system:unauthenticated', 'system:serviceaccounts']
const most = 1000

/** The two texts of an administrator. One entry on each line; `#` begins a comment. Throws `invalid_configuration`. */
export function accessOf({ readers, namespaces }: { readonly readers: string; readonly namespaces: string }): Access {
  const users = new Set<string>([...kubernetesSubjects.users, ...platformUsers])
  const groups = new Set<string>(kubernetesSubjects.groups)
  for (const { line, number } of entries(readers, 'readers')) {
    const subject = subjectOf(line, `readers, line ${number}`)
    if (subject.kind === 'Group') groups.add(subject.name)
    else users.add(subject.name)
  }
  const openNamespaces = entries(namespaces, 'namespaces').map(({ line, number }) =>
    namespaceOf(line, `namespaces, line ${number}`),
  )
  return { subjects: { users, groups }, openNamespaces: new Set(openNamespaces) }
}

function entries(text: string, file: string): readonly { readonly line: string; readonly number: number }[] {
  const found = text
    .split('\n')
    .map((line, index) => ({ line: line.replace(/#.*$/, '').trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
  if (found.length > most) throw invalid(`${file}: has more than ${most} entries: name a group instead of its members`)
  return found
}

function subjectOf(line: string, where: string): { readonly kind: 'User' | 'Group'; readonly name: string } {
  const [, kind, name = ''] = /^(User|Group|ServiceAccount) +(\S+)$/.exec(line) ?? []
  if (kind === 'User') return { kind, name }
  if (kind === 'Group' && !everybody.includes(name)) return { kind, name }
  if (kind === 'Group') throw invalid(`${where}: the group ${name} is everybody: name those who must read`)
  const [namespace = '', account = '', ...rest] = name.split('/')
  if (kind === 'ServiceAccount' && namespace !== '' && account !== '' && rest.length === 0)
    return { kind: 'User', name: serviceAccountUser(namespace, account) }
  throw invalid(`${where}: write "User <name>", "Group <name>" or "ServiceAccount <namespace>/<name>"`)
}

function namespaceOf(line: string, where: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(line)) throw invalid(`${where}: write the name of one namespace`)
  if (line === platformNamespace) throw invalid(`${where}: ${line} is the platform’s own: remove the line`)
  return line
}

function invalid(message: string): AppError {
  return new AppError('invalid_configuration', message)
}
