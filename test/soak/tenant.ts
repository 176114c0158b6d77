// The tenant of a soak run: acme with its Installation, created as the broker would, and the developer who works in it.

import { installApp } from '../../dev/github/actions/install-app.ts'
import { groups, platformNamespace, userSubject } from '../../src/api/names.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import type { Identity, Reply } from '../attack/impersonation.ts'
import { gitHubHost } from '../platform/ground.ts'
import { accountOf, appName } from '../platform/process-plans.ts'
import type { SoakPlatform } from './platform.ts'

export const namespace = 'acme'
export const organization = { host: gitHubHost, id: 2001, login: 'acme', type: 'Organization' }
const developersTeam = 3001

const signedIn = 'system:authenticated'
const brokerOf = ({ form }: SoakPlatform): Identity => ({
  user: `system:serviceaccount:${platformNamespace}:${accountOf(form, 'broker')}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${platformNamespace}`, signedIn],
})
export const developer: Identity = {
  user: userSubject(gitHubHost, 1002),
  groups: [groups.team(gitHubHost, organization.id, developersTeam), groups.members(gitHubHost, organization.id), signedIn],
}

export const paths = {
  applications: `/apis/apps.sekisho.dev/v1alpha1/namespaces/${namespace}/applications`,
  remoteSyncs: `/apis/apps.sekisho.dev/v1alpha1/namespaces/${namespace}/remotesyncs`,
  grants: `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/repositorygrants`,
  installations: `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/installations`,
  tenants: '/apis/tenancy.sekisho.dev/v1alpha1/tenants',
} as const

/** Throws the API server's message when it refused. */
export function accepted(reply: Reply, what: string): Reply {
  if (reply.status < 300) return reply
  throw new Error(`${what}: ${reply.status} ${reply.message}`)
}

type Conditioned = {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[]
  }
}

export async function untilReady(fixture: Pick<SoakPlatform, 'admin'>, path: string): Promise<void> {
  const check = async (): Promise<true | undefined> => {
    const { status } = (await fixture.admin.call('GET', path)) as Conditioned
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.status !== 'True') throw new Error(ready?.message ?? 'no condition Ready yet')
    return true
  }
  await waitUntil(`${path} to be Ready`, check, { timeoutMilliseconds: limits.rollout })
}

export async function openTenant(fixture: SoakPlatform): Promise<void> {
  const { context } = fixture.github
  const [app] = context.state.apps
  if (app === undefined) throw new Error('the emulator has no App')
  const installed = installApp(context, app, {
    accountId: organization.id,
    installerId: 1001,
    repositorySelection: 'all',
    repositoryIds: [],
  })
  const tenant = {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: namespace },
    spec: {
      account: organization,
      namespace,
      roles: [{ role: 'developer', subject: { type: 'Team', id: developersTeam, name: 'developers' } }],
      limits: { applications: 1000, tokensPerHour: 5000, concurrentBuilds: 2 },
    },
  }
  accepted(await fixture.people.as(brokerOf(fixture), 'POST', paths.tenants, tenant), 'the Tenant')
  await untilReady(fixture, `${paths.tenants}/${namespace}`)
  const installation = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Installation',
    metadata: { name: 'github', namespace },
    spec: {
      app: appName,
      installationId: installed.id,
      account: organization,
      boundBy: { id: 1001, login: 'olivia' },
      proof: { method: 'OrganizationOwner', provedAt: new Date().toISOString() },
      ceiling: { repositories: 'All', permissions: { contents: 'read' } },
    },
  }
  accepted(await fixture.people.as(brokerOf(fixture), 'POST', paths.installations, installation), 'the Installation')
  await untilReady(fixture, `${paths.installations}/github`)
}
