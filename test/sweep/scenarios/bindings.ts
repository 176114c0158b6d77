// Shared setup of several scenarios: an Installation that Olivia bound, a grant that Dave requested, and the wake annotation of
// a webhook.
import { installation } from '../../../src/api/github/installation.ts'
import { repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { userSubject, wakeAnnotation } from '../../../src/api/names.ts'
import type { ResourceType } from '../../../src/api/resource.ts'
import { people } from '../environment/account.ts'
import { type Environment, fieldManager, host } from '../environment/environment.ts'
import { ready } from './waits.ts'

/** Longer than the token desk keeps an intent without an outcome: the next process sweeps what the killed one left. */
export const sweptMilliseconds = 6 * 60_000

export const dave = userSubject(host, people.dave)

const ceiling = { contents: 'read', deployments: 'write', pull_requests: 'write', statuses: 'write' } as const

export function applyInstallation(environment: Environment, changes: object = {}): Promise<void> {
  const { organization, installed } = environment.account
  const spec = {
    app: environment.appName,
    installationId: installed.id,
    account: { host, id: organization.id, login: organization.login, type: 'Organization' },
    boundBy: { id: people.olivia, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: ceiling },
    ...changes,
  }
  return environment.apply(installation, 'github', { spec })
}

export async function bind(environment: Environment): Promise<void> {
  await applyInstallation(environment)
  await ready(environment, installation, 'github', 'Verified')
}

const runner = [{ kind: 'ServiceAccount', name: 'runner' }]

export function applyGrant(environment: Environment, subjects: readonly object[] = runner, changes: object = {}): Promise<void> {
  const spec = {
    installation: 'github',
    repositories: [`${environment.account.organization.login}/shop`],
    permissions: { contents: 'read' },
    subjects,
    reason: 'the sweep reads the shop',
    requestedBy: dave,
    ...changes,
  }
  return environment.apply(repositoryGrant, 'read-shop', { spec })
}

export async function approvedGrant(environment: Environment): Promise<void> {
  await applyGrant(environment)
  await ready(environment, repositoryGrant, 'read-shop', 'Approved')
}

export async function wake(environment: Environment, type: ResourceType, name: string, value: string): Promise<void> {
  const patch = { metadata: { annotations: { [wakeAnnotation]: value } } }
  await environment.fixture.kube.mergePatch(type, { namespace: environment.namespace, name }, patch, { fieldManager })
}
