import { expect, test } from 'vitest'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { keyText } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { concernedBy, type KnownObjects } from './affected-objects.ts'
import type { GitHubEvent } from './github-event.ts'

const host = 'github.com'
const account = (id: number) => ({ host, id, login: `org${id}`, type: 'Organization' as const })

function installation(namespace: string, installationId: number, accountId: number): Installation {
  const spec: Installation['spec'] = {
    app: 'default',
    installationId,
    account: account(accountId),
    boundBy: { id: 1, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: {} },
  }
  return { apiVersion: 'v', kind: 'Installation', metadata: { namespace, name: 'github' }, spec }
}

function sync(namespace: string, name: string, source: RemoteSync['spec']['source'], grant?: string): RemoteSync {
  const build = { strategy: 'Buildpacks' as const, timeoutSeconds: 900 }
  const spec = { installation: 'github', repository: 'acme/shop', source, build, application: 'shop', requestedBy: 'x' }
  return {
    apiVersion: 'v',
    kind: 'RemoteSync',
    metadata: { namespace, name },
    spec,
    ...(grant === undefined ? {} : { status: { grant } }),
  }
}

function grant(namespace: string, name: string, repositories: readonly { id: number; name: string }[]): RepositoryGrant {
  const spec: RepositoryGrant['spec'] = {
    installation: 'github',
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'RemoteSync', name: 'main' }],
    delivery: 'TokenEndpoint',
    lifetimeSeconds: 60,
    reason: 'build',
    requestedBy: 'x',
  }
  return {
    apiVersion: 'v',
    kind: 'RepositoryGrant',
    metadata: { namespace, name },
    spec,
    status: { repositories: [...repositories] },
  }
}

const tenant: Tenant = {
  apiVersion: 'v',
  kind: 'Tenant',
  metadata: { name: 'acme' },
  spec: { account: account(7), namespace: 'acme', roles: [] },
}
const known: KnownObjects = {
  installations: [installation('acme', 9, 7), installation('globex', 10, 8)],
  syncs: [
    sync('acme', 'main', { branch: 'main' }, 'shop'),
    sync('acme', 'feature', { branch: 'feature' }, 'shop'),
    sync('acme', 'preview', { pullRequest: 3 }, 'shop'),
    sync('acme', 'fixed', { commit: 'a'.repeat(40) }),
    sync('globex', 'main', { branch: 'main' }),
  ],
  grants: [grant('acme', 'shop', [{ id: 5, name: 'acme/shop' }]), grant('globex', 'other', [{ id: 6, name: 'globex/site' }])],
  tenants: [tenant],
}
const event = (change: Partial<GitHubEvent>): GitHubEvent => ({
  event: 'push',
  action: undefined,
  installationId: 9,
  requesterId: undefined,
  organizationId: undefined,
  repository: { id: 5, fullName: 'acme/shop' },
  branch: undefined,
  pullRequest: undefined,
  senderId: 1,
  ...change,
})
const concerned = (change: Partial<GitHubEvent>, objects = known, at = host) =>
  concernedBy(event(change), at, objects).map(({ type, key }) => `${type.kind}/${keyText(key)}`)

test.each<[string, Partial<GitHubEvent>, string[]]>([
  ['a push wakes who follows the branch', { branch: 'main' }, ['RemoteSync/acme/main']],
  ['a push of a tag wakes nobody', {}, []],
  ['a push elsewhere wakes nobody', { branch: 'main', repository: { id: 99, fullName: 'acme/other' } }, []],
  ['a namesake with another id wakes nobody', { branch: 'main', repository: { id: 99, fullName: 'acme/shop' } }, []],
  [
    'a renamed repository still wakes, by its id',
    { branch: 'main', repository: { id: 5, fullName: 'acme/store' } },
    ['RemoteSync/acme/main'],
  ],
  [
    'without a resolved grant the name decides',
    { branch: 'main', installationId: 10, repository: { id: 5, fullName: 'ACME/shop' } },
    ['RemoteSync/globex/main'],
  ],
  ['an installation nobody bound speaks for nobody', { branch: 'main', installationId: 11 }, []],
  ['a pull request wakes who follows it', { event: 'pull_request', pullRequest: 3 }, ['RemoteSync/acme/preview']],
  [
    'a changed installation wakes itself and its grants',
    { event: 'installation', repository: undefined },
    ['Installation/acme/github', 'RepositoryGrant/acme/shop'],
  ],
  [
    'a changed organisation wakes tenant, installation and grants',
    { event: 'membership', installationId: undefined, organizationId: 7, repository: undefined },
    ['Tenant/acme', 'Installation/acme/github', 'RepositoryGrant/acme/shop'],
  ],
  [
    'a changed repository wakes its grant and all who follow it',
    { event: 'repository' },
    [
      'RepositoryGrant/acme/shop',
      'RemoteSync/acme/main',
      'RemoteSync/acme/feature',
      'RemoteSync/acme/preview',
      'RemoteSync/acme/fixed',
    ],
  ],
  ['an unknown event wakes nobody', { event: 'star' }, []],
])('%s', (_name, change, keys) => {
  expect(concerned(change)).toEqual(keys)
})

test('the same numbers on another GitHub host wake nobody', () => {
  expect(concerned({ branch: 'main' }, known, 'github.example')).toEqual([])
})
