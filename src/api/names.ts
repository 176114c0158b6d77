// Names that several processes must agree on: labels, annotations, field managers, reserved prefixes, and how people and groups are spelled.
import { domain } from './kind.ts'

/** Changing it wakes the controller of an object; the broker sets it when a webhook concerns the object. */
export const wakeAnnotation = `${domain}/wake`

export const labels = {
  tenant: `${domain}/tenant`,
  namespacePurpose: `${domain}/purpose`,
  application: `${domain}/application`,
  process: `${domain}/process`,
  managedBy: 'app.kubernetes.io/managed-by',
} as const

/** Secrets whose names begin so are the platform's: no tenant reads, writes or refers to them. */
export const reservedSecretPrefix = 'ghtok-'

/** The audience a workload's ServiceAccount token must have for the token desk. */
export const tokenDeskAudience = 'sekisho'

/** The OIDC client id of kubectl users, and so the audience the API server demands. */
export const kubernetesClientId = 'kubernetes'

export const platformNamespace = 'sekisho-system'

export function buildNamespaceOf(namespace: string): string {
  return `${namespace}-build`
}

/** The one spelling of a person: stable when the login changes hands. */
export function userSubject(host: string, userId: number): string {
  return `github|${host}|${userId}`
}

/** Reads back `userSubject`; undefined for anything else (ServiceAccounts, certificates, numbers that JavaScript would round to another's). */
export function parseUserSubject(subject: string): { readonly host: string; readonly userId: number } | undefined {
  const match = /^github\|([a-z0-9][a-z0-9.:-]*)\|([1-9][0-9]{0,14})$/.exec(subject)
  return match?.[1] && match[2] ? { host: match[1], userId: Number(match[2]) } : undefined
}

/** Groups by numeric ids: names of organisations and teams can change hands. */
export const groups = {
  team: (host: string, organizationId: number, teamId: number): string => `github|${host}|org|${organizationId}|team|${teamId}`,
  owners: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|owners`,
  members: (host: string, organizationId: number): string => `github|${host}|org|${organizationId}|members`,
} as const

/** True for what the functions of `groups` can make. */
export function isGroup(name: string): boolean {
  return /^github\|[a-z0-9][a-z0-9.:-]*\|org\|[1-9][0-9]{0,14}\|(owners|members|team\|[1-9][0-9]{0,14})$/.test(name)
}

export const tenantRoles = {
  viewer: 'sekisho:tenant-viewer',
  developer: 'sekisho:tenant-developer',
  admin: 'sekisho:tenant-admin',
} as const
