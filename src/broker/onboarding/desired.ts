// The objects that an onboarding creates: a Tenant with its roles, and the Installation in its namespace. Pure.
import { type Installation, installation } from '../../api/github/installation.ts'
import { type Tenant, tenant } from '../../api/tenancy/tenant.ts'
import type { NewObject } from '../../kube/client/client.ts'
import { AppError } from '../../lib/errors.ts'
import type { ChosenTeam, ProvedIntent } from './onboarding-records.ts'

type Role = Tenant['spec']['roles'][number]
type Account = Tenant['spec']['account']

/** The name of the Installation that onboarding creates in every tenant's namespace. */
export const installationName = 'github'

function developers(teams: readonly ChosenTeam[]): readonly Role[] {
  return teams.map(({ id, slug }) => ({ role: 'developer', subject: { type: 'Team', id, name: slug } }))
}

/** Organisation: owners are admins, members viewers, the chosen teams developers. User account: its holder is the admin. */
export function desiredRoles(intent: ProvedIntent): readonly Role[] {
  const { account, teams } = intent
  if (account.type === 'User') return [{ role: 'admin', subject: { type: 'User', id: account.id, name: account.login } }]
  return [{ role: 'admin', subject: { type: 'Owners' } }, { role: 'viewer', subject: { type: 'Members' } }, ...developers(teams)]
}

/** The namespace has the Tenant's name. */
export function desiredTenant(intent: ProvedIntent, name: string): NewObject<Tenant> {
  return {
    apiVersion: tenant.apiVersion,
    kind: tenant.kind,
    metadata: { name },
    spec: { account: intent.account, namespace: name, roles: [...desiredRoles(intent)] },
  }
}

/** Whether the tenant is that of the account on GitHub, by its number. */
export function isTenantOf({ spec: { account } }: Tenant, { host, id }: Pick<Account, 'host' | 'id'>): boolean {
  return account.host === host && account.id === id
}

/** The Installation that onboarding made, among all of the namespace. Throws `conflict` when there is none. */
export function onboardedInstallation(of: Tenant, all: readonly Installation[]): Installation {
  const found = all.find(({ metadata, spec }) => metadata.name === installationName && isTenantOf(of, spec.account))
  if (found !== undefined) return found
  throw new AppError('conflict', 'the tenant has no Installation: begin again at /onboard')
}

/** `namespace` is the tenant's. */
export function desiredInstallation(intent: ProvedIntent, installationId: number, namespace: string): NewObject<Installation> {
  const { app, account, boundBy, proof, ceiling } = intent
  return {
    apiVersion: installation.apiVersion,
    kind: installation.kind,
    metadata: { name: installationName, namespace },
    spec: { app, installationId, account, boundBy, proof, ceiling },
  }
}
