// Derives the name of a tenant and of its namespace from the account's login: a DNS label, never a name that the cluster or the platform uses.
// Pure.
import { buildNamespaceOf, platformNamespace } from '../../api/names.ts'

/** A DNS label has at most 63 characters; the build namespace adds `-build`. */
const longest = 57
const reserved: ReadonlySet<string> = new Set(['default', 'kpack', 'traefik', 'monitoring', platformNamespace])

function labelOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

function isReserved(name: string): boolean {
  return (
    name === '' ||
    reserved.has(name) ||
    name.startsWith('kube-') ||
    name.startsWith('sekisho') ||
    name.startsWith('openshift-') ||
    // `x-build` would be the build namespace of a tenant `x`.
    name.endsWith(buildNamespaceOf(''))
  )
}

/** The names to try, in this order: the login, then the login with the numeric id, which is unique. Never empty. */
export function tenantNameCandidates(account: { readonly login: string; readonly id: number }): readonly string[] {
  const suffix = `-${account.id}`
  const plain = labelOf(account.login).slice(0, longest).replace(/-+$/, '')
  const stem = labelOf(account.login)
    .slice(0, longest - suffix.length)
    .replace(/-+$/, '')
  const unique = `${stem === '' || isReserved(stem) ? `t-${stem}`.replace(/-+$/, '') : stem}${suffix}`
  return [...new Set([plain, unique])].filter(name => !isReserved(name))
}
