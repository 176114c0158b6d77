// The candidate reader and the decision together, over real caches.
import { expect, test } from 'vitest'
import { appPipeline } from '../../api/apps/app-pipeline.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { followerFields, followerStatusFields, type RepositoryFollower } from '../../api/capabilities/repository-follower.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { defineKind } from '../../api/kind.ts'
import { defineReasons } from '../../api/reasons/reason.ts'
import { type FollowerKind, followerKinds } from '../../api/registry.ts'
import { type KubeObject, keyText, type ResourceType } from '../../api/resource.ts'
import { object } from '../../api/schema/schema.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { createObjectCache } from '../../kube/cache/object-cache.ts'
import type { Manager } from '../../kube/manager.ts'
import { affectedObjects } from './affected-objects.ts'
import { createCandidateReader } from './candidate-reader.ts'
import type { GitHubEvent } from './github-event.ts'

const host = 'github.com'
const account = (id: number) => ({ host, id, login: `org${id}`, type: 'Organization' as const })
const proof = { method: 'OrganizationOwner' as const, provedAt: '2026-01-01T00:00:00Z' }

function installation(namespace: string, installationId: number, accountId: number): Installation {
  const spec: Installation['spec'] = {
    app: 'default',
    installationId,
    account: account(accountId),
    boundBy: { id: 1, login: 'olivia' },
    proof,
    ceiling: { repositories: 'All', permissions: {} },
    standIns: [{ id: 4, login: 'noah', proof }],
  }
  return { apiVersion: 'v', kind: 'Installation', metadata: { namespace, name: 'github' }, spec }
}

function sync(namespace: string, name: string, source: RemoteSync['spec']['source'], repositoryId?: number): RemoteSync {
  const build = { strategy: 'Buildpacks' as const, timeoutSeconds: 900 }
  const spec = { installation: 'github', repository: 'acme/shop', source, build, application: 'shop', requestedBy: 'x' }
  return {
    apiVersion: 'v',
    kind: 'RemoteSync',
    metadata: { namespace, name },
    spec,
    ...(repositoryId === undefined
      ? {}
      : { status: { repository: { id: repositoryId, name: 'acme/shop', requested: 'acme/shop' } } }),
  }
}

function grant(
  namespace: string,
  name: string,
  repositories: readonly { id: number; name: string }[],
  requestedBy = 'github|github.com|1',
): RepositoryGrant {
  const spec: RepositoryGrant['spec'] = {
    installation: 'github',
    repositories: ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'RemoteSync', name: 'main' }],
    delivery: 'TokenEndpoint',
    lifetimeSeconds: 60,
    reason: 'build',
    requestedBy,
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
const held: readonly KubeObject[] = [
  installation('acme', 9, 7),
  installation('globex', 10, 8),
  sync('acme', 'main', { branch: 'main' }, 5),
  sync('acme', 'feature', { branch: 'feature' }, 5),
  sync('acme', 'preview', { pullRequest: 3 }, 5),
  sync('acme', 'fixed', { commit: 'a'.repeat(40) }),
  sync('globex', 'main', { branch: 'main' }),
  grant('acme', 'shop', [{ id: 5, name: 'acme/shop' }]),
  grant('acme', 'plans', [{ id: 8, name: 'acme/plans' }], 'github|github.com|2'),
  grant('acme', 'denied', []),
  grant('globex', 'other', [{ id: 6, name: 'globex/site' }]),
  tenant,
]

/** Caches over `objects` that refuse to be listed. */
function managerOf(objects: readonly KubeObject[]): Pick<Manager, 'cache'> {
  const stores = new Map<string, unknown>()
  return {
    cache<T extends KubeObject>(type: ResourceType<T>) {
      const store = createObjectCache<T>()
      const known = stores.get(type.kind) ?? store
      stores.set(type.kind, known)
      if (known === store) store.replace(objects.filter(({ kind }) => kind === type.kind) as unknown as readonly T[])
      return { ...(known as typeof store), list: () => expect.unreachable(`the cache of ${type.kind} was listed`) }
    },
  }
}

const event = (change: Partial<GitHubEvent>): GitHubEvent => ({
  event: 'push',
  action: undefined,
  installationId: 9,
  appId: undefined,
  requesterId: undefined,
  organizationId: undefined,
  memberId: undefined,
  repository: { id: 5, fullName: 'acme/shop' },
  branch: undefined,
  defaultBranch: undefined,
  pullRequest: undefined,
  senderId: 1,
  ...change,
})
function affectedBy(change: Partial<GitHubEvent>, at = host, objects = held, kinds = followerKinds): readonly string[] {
  const candidates = createCandidateReader(managerOf(objects), kinds)
  const received = event(change)
  return affectedObjects(received, candidates(received, at)).map(({ type, key }) => `${type.kind}/${keyText(key)}`)
}

const nowhere = { repository: undefined }

test.each<[string, Partial<GitHubEvent>, string[]]>([
  ['a push wakes the objects that follow the branch', { branch: 'main' }, ['RemoteSync/acme/main']],
  ['a push of a tag wakes nothing', {}, []],
  ['a push to another repository wakes nothing', { branch: 'main', repository: { id: 99, fullName: 'acme/other' } }, []],
  [
    'a repository of the same name with another id wakes nothing',
    { branch: 'main', repository: { id: 99, fullName: 'acme/shop' } },
    [],
  ],
  [
    'a renamed repository still wakes by its id',
    { branch: 'main', repository: { id: 5, fullName: 'acme/store' } },
    ['RemoteSync/acme/main'],
  ],
  [
    'before the repository is known the name decides',
    { branch: 'main', installationId: 10, repository: { id: 5, fullName: 'ACME/shop' } },
    ['RemoteSync/globex/main'],
  ],
  ['an event of an installation that is not bound wakes nothing', { branch: 'main', installationId: 11 }, []],
  ['a pull request wakes the objects that follow it', { event: 'pull_request', pullRequest: 3 }, ['RemoteSync/acme/preview']],
  [
    'a changed installation wakes itself and its grants',
    { event: 'installation', repository: undefined },
    ['Installation/acme/github', 'RepositoryGrant/acme/shop', 'RepositoryGrant/acme/plans', 'RepositoryGrant/acme/denied'],
  ],
  [
    'a member who was removed wakes the Installations that they bound and the grants that they requested',
    { event: 'organization', action: 'member_removed', installationId: undefined, organizationId: 7, memberId: 1, ...nowhere },
    ['Tenant/acme', 'Installation/acme/github', 'RepositoryGrant/acme/shop', 'RepositoryGrant/acme/denied'],
  ],
  [
    'a member who was removed wakes the Installations for which they stand in',
    { event: 'organization', action: 'member_removed', installationId: undefined, organizationId: 7, memberId: 4, ...nowhere },
    ['Tenant/acme', 'Installation/acme/github'],
  ],
  [
    'a team that somebody left wakes the grants of that person only',
    { event: 'membership', organizationId: 7, memberId: 2, ...nowhere },
    ['RepositoryGrant/acme/plans'],
  ],
  [
    'a renamed organisation wakes everything that shows its name',
    { event: 'organization', action: 'renamed', organizationId: 7, ...nowhere },
    [
      'Tenant/acme',
      'Installation/acme/github',
      'RepositoryGrant/acme/shop',
      'RepositoryGrant/acme/plans',
      'RepositoryGrant/acme/denied',
      'RemoteSync/acme/main',
      'RemoteSync/acme/feature',
      'RemoteSync/acme/preview',
      'RemoteSync/acme/fixed',
    ],
  ],
  [
    'a team that lost a repository wakes the grants for that repository',
    { event: 'team', organizationId: 7, repository: { id: 8, fullName: 'acme/plans' } },
    ['Tenant/acme', 'RepositoryGrant/acme/plans'],
  ],
  [
    'a collaborator wakes the grants that this person requested for the repository',
    { event: 'member', memberId: 2, repository: { id: 5, fullName: 'acme/shop' } },
    [],
  ],
  [
    'a changed repository wakes its grants, those that only know its name, and every object that follows it',
    { event: 'repository' },
    [
      'RepositoryGrant/acme/shop',
      'RepositoryGrant/acme/denied',
      'RemoteSync/acme/main',
      'RemoteSync/acme/feature',
      'RemoteSync/acme/preview',
      'RemoteSync/acme/fixed',
    ],
  ],
  ['an unknown event wakes nothing', { event: 'star' }, []],
  ['an event with a name that every object has wakes nothing', { event: 'constructor' }, []],
])('%s', (_name, change, keys) => {
  expect(affectedBy(change)).toEqual(keys)
})

test('a push after a rename of the organisation, which the RemoteSync and its grant know already, wakes it', () => {
  const renamed: RemoteSync = {
    ...sync('acme', 'renamed', { branch: 'main' }),
    status: { repository: { id: 12, name: 'acme-inc/shop', requested: 'acme/shop' } },
  }
  const objects = [...held, renamed, grant('acme', 'renamed', [{ id: 12, name: 'acme-inc/shop' }])]
  const pushed = { branch: 'main', repository: { id: 12, fullName: 'acme-inc/shop' } }
  expect(affectedBy(pushed, host, objects)).toEqual(['RemoteSync/acme/renamed'])
})

test.each<[string, Partial<GitHubEvent>, string[]]>([
  ['a push to the default branch', { branch: 'trunk', defaultBranch: 'trunk' }, ['RemoteSync/acme/default']],
  ['a push that does not name the default branch', { branch: 'trunk' }, ['RemoteSync/acme/default']],
  ['a push to another branch', { branch: 'feature', defaultBranch: 'trunk' }, ['RemoteSync/acme/feature']],
  ['a pushed tag', { branch: undefined, defaultBranch: 'trunk' }, []],
])('%s wakes what follows the default branch only when it is that', (_what, change, keys) => {
  const objects = [...held, sync('acme', 'default', {}, 5)]
  expect(affectedBy(change, host, objects)).toEqual(keys)
})

test('pushes to the former and to the present name of a renamed branch wake what follows it', () => {
  const renamedBranch = { from: 'master', to: 'main' }
  const followed = (name: string, branch: string): RemoteSync => {
    const made = sync('acme', name, { branch }, 5)
    return { ...made, status: { ...made.status, renamedBranch } }
  }
  const objects = [...held, followed('renamed', 'master'), followed('corrected', 'trunk')]
  expect(affectedBy({ branch: 'main' }, host, objects)).toEqual(['RemoteSync/acme/main', 'RemoteSync/acme/renamed'])
  expect(affectedBy({ branch: 'master' }, host, objects)).toEqual(['RemoteSync/acme/renamed'])
})

test('a change of the default branch wakes what follows it', () => {
  const objects = [...held, sync('acme', 'default', {}, 5)]
  const change = { event: 'repository', action: 'edited' }
  expect(affectedBy(change, host, objects)).toContain('RemoteSync/acme/default')
})

test('the same ids on another GitHub host wake nothing', () => {
  expect(affectedBy({ branch: 'main' }, 'github.example')).toEqual([])
})

/** Follows every pull request of a repository. No line of the webhook code names it. */
const pipeline = defineKind({
  group: 'apps',
  kind: 'Pipeline',
  plural: 'pipelines',
  shortNames: [],
  scope: 'Namespaced',
  description: 'x',
  writtenBy: 'x',
  conditions: { Ready: 'x' },
  reasons: defineReasons({}),
  spec: object(followerFields, { description: 'x' }),
  status: followerStatusFields,
  columns: [],
  followsRepository: { source: () => ({ pullRequest: 'every', access: true }), permissions: () => ({}), purpose: () => 'x' },
}) as unknown as FollowerKind

test('a kind that declares that it follows a repository is woken too', () => {
  const spec = { installation: 'github', repository: 'acme/shop', requestedBy: 'x' }
  const follower = (namespace: string, name: string, status = {}): RepositoryFollower => ({
    apiVersion: 'v',
    kind: 'Pipeline',
    metadata: { namespace, name },
    spec,
    status,
  })
  const objects = [
    ...held,
    follower('acme', 'all', { repository: { id: 5, name: 'acme/shop', requested: 'acme/shop' } }),
    follower('globex', 'all'),
  ]
  const kinds = [...followerKinds, pipeline]
  const affected = (change: Partial<GitHubEvent>) => affectedBy(change, host, objects, kinds)
  expect(affected({ event: 'pull_request', pullRequest: 3 })).toEqual(['RemoteSync/acme/preview', 'Pipeline/acme/all'])
  expect(affected({ event: 'pull_request', pullRequest: 4 })).toEqual(['Pipeline/acme/all'])
  expect(affected({ event: 'issue_comment', action: 'created' })).toEqual(['Pipeline/acme/all'])
  expect(affected({ event: 'pull_request_review', action: 'submitted' })).toEqual(['Pipeline/acme/all'])
  // Nothing was said that is new: an edited comment approves nothing.
  for (const action of ['edited', 'deleted']) expect(affected({ event: 'issue_comment', action })).toEqual([])
  for (const action of ['edited', 'dismissed']) expect(affected({ event: 'pull_request_review', action })).toEqual([])
  expect(affected({ branch: 'main' })).toEqual(['RemoteSync/acme/main'])
  const other = { id: 99, fullName: 'acme/shop' }
  expect(affected({ event: 'pull_request', pullRequest: 4, repository: other })).toEqual([])
  expect(affected({ event: 'pull_request', pullRequest: 4, installationId: 10, repository: other })).toEqual([
    'Pipeline/globex/all',
  ])
})

/** An AppPipeline whose pull requests have these states. */
function previews(namespace: string, name: string, states: readonly string[]): RepositoryFollower {
  const spec = { installation: 'github', repository: 'acme/shop', requestedBy: 'x' }
  const rows = states.map((state, index) => ({ number: index + 1, state }))
  const status = { repository: { id: 5, name: 'acme/shop', requested: 'acme/shop' }, previews: rows }
  return { apiVersion: 'v', kind: appPipeline.kind, metadata: { namespace, name }, spec, status }
}

/** Whether somebody may approve a fork's commit depends on their access, which each of these events may have changed. */
test.each<[string, Partial<GitHubEvent>]>([
  ['a new collaborator', { event: 'member', action: 'added', memberId: 2 }],
  ['a collaborator with another role', { event: 'member', action: 'edited', memberId: 2 }],
  ['somebody who joined a team', { event: 'membership', action: 'added', organizationId: 7, memberId: 2, ...nowhere }],
  ['a team that got the repository', { event: 'team', action: 'added_to_repository', organizationId: 7 }],
  ['a team with another parent', { event: 'team', action: 'edited', organizationId: 7, ...nowhere }],
  [
    'a new member of the organisation',
    { event: 'organization', action: 'member_added', organizationId: 7, memberId: 2, ...nowhere },
  ],
])('%s wakes what waits for somebody with access, and nothing else that follows the repository', (_what, change) => {
  const objects = [
    ...held,
    previews('acme', 'waits', ['Running', 'WaitingForApproval']),
    previews('acme', 'runs', ['Running']),
    previews('acme', 'new', []),
    previews('globex', 'waits', ['WaitingForApproval']),
  ]
  const followers = affectedBy(change, host, objects).filter(key => !/^(Tenant|Installation|RepositoryGrant)\//.test(key))
  expect(followers).toEqual(['AppPipeline/acme/waits'])
})

test('a collaborator of another repository wakes nothing that follows this one', () => {
  const objects = [...held, previews('acme', 'waits', ['WaitingForApproval'])]
  const repository = { id: 8, fullName: 'acme/plans' }
  expect(affectedBy({ event: 'member', memberId: 2, repository }, host, objects)).toEqual(['RepositoryGrant/acme/plans'])
})

test('a push to the base branch wakes who follows the merge commit of a pull request into it', () => {
  const followed = (name: string, source: RemoteSync['spec']['source'], baseBranch: string): RemoteSync => {
    const made = sync('acme', name, { pullRequest: 3, ...source }, 5)
    const pullRequest = { number: 3, headCommit: 'a'.repeat(40), headRepository: 5, baseBranch }
    return { ...made, status: { ...made.status, pullRequest } }
  }
  const objects = [
    ...held,
    followed('merge', { mergeCommit: true }, 'trunk'),
    followed('head', {}, 'trunk'),
    followed('other', { mergeCommit: true }, 'release'),
  ]
  expect(affectedBy({ branch: 'trunk' }, host, objects)).toEqual(['RemoteSync/acme/merge'])
})

test('somebody who leaves wakes the grants that they approved, too', () => {
  const approvedBy = (name: string, observedAnswers: string): RepositoryGrant => ({
    ...grant('acme', name, [], 'github|github.com|8'),
    status: { observedAnswers },
  })
  const objects = [
    ...held,
    approvedBy('approved', 'github|github.com|9, github|github.com|2'),
    approvedBy('other', 'github|github.com|9'),
  ]
  const left = { event: 'organization', action: 'member_removed', organizationId: 7, memberId: 2, ...nowhere }
  const woken = affectedBy(left, host, objects)
  expect(woken).toContain('RepositoryGrant/acme/approved')
  expect(woken).not.toContain('RepositoryGrant/acme/other')
})
