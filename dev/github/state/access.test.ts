// Access decisions, as tables over a small state.
import { describe, expect, test } from 'vitest'
import { type Actor, administers, canSee, mayUse, permissionOn, repositoryRole } from './access.ts'
import type { RepositoryRole, Team, User } from './accounts.ts'
import type { App, Installation } from './apps.ts'
import { emptyState, type GitHubState } from './github-state.ts'
import { newRepository } from './repositories.ts'

const at = '2026-01-01T00:00:00Z'
function user(id: number): User {
  return { kind: 'user', id, login: `u${id}`, name: '', email: '', type: 'User', createdAt: at }
}

function team(id: number, parentId: number | null, userIds: readonly number[], role?: RepositoryRole): Team {
  return {
    id,
    organizationId: 50,
    slug: `t${id}`,
    name: '',
    description: null,
    privacy: 'closed',
    parentId,
    members: userIds.map(userId => ({ userId, role: 'member' })),
    repositories: role === undefined ? [] : [{ repositoryId: 100, role }],
    createdAt: at,
  }
}

const repository = newRepository({ id: 100, ownerId: 50, name: 'r', description: null, private: true, createdAt: at })

function stateWith(change: (state: GitHubState) => void = () => undefined): GitHubState {
  const made = emptyState()
  made.users = [1, 2, 3, 4].map(user)
  made.organizations = [
    {
      kind: 'organization',
      id: 50,
      login: 'o',
      name: '',
      basePermission: 'none',
      memberships: [
        { userId: 1, role: 'admin', state: 'active' },
        { userId: 2, role: 'member', state: 'active' },
        { userId: 3, role: 'admin', state: 'pending' },
      ],
      createdAt: at,
    },
  ]
  made.repositories = [repository]
  change(made)
  return made
}

describe('the role of a person on a repository', () => {
  test.each([
    ['an owner', 1, 'admin'],
    ['a member with no base permission and no team', 2, 'none'],
    ['an invited owner who has not accepted', 3, 'none'],
    ['a stranger', 4, 'none'],
  ])('%s', (_who, id, role) => expect(repositoryRole(stateWith(), id, repository)).toBe(role))

  test('the base permission counts for active members only', () => {
    const open = stateWith(one => {
      for (const organization of one.organizations) organization.basePermission = 'write'
    })
    expect([2, 3, 4].map(id => repositoryRole(open, id, repository))).toEqual(['write', 'none', 'none'])
  })

  test('a child team inherits the roles of its parents; the strongest counts', () => {
    const nested = stateWith(one => {
      one.teams = [team(1, null, [], 'maintain'), team(2, 1, []), team(3, 2, [2], 'read')]
    })
    expect(repositoryRole(nested, 2, repository)).toBe('maintain')
  })

  test('a parent team does not have the roles of its children', () => {
    const nested = stateWith(one => {
      one.teams = [team(1, null, [2]), team(2, 1, [], 'admin')]
    })
    expect(repositoryRole(nested, 2, repository)).toBe('none')
  })

  test('a cycle of teams ends', () => {
    const cyclic = stateWith(one => {
      one.teams = [team(1, 2, [2]), team(2, 1, [], 'read')]
    })
    expect(repositoryRole(cyclic, 2, repository)).toBe('read')
  })

  test('a team grants nothing to a person who has left the organization', () => {
    const left = stateWith(one => {
      one.teams = [team(1, null, [4], 'admin')]
    })
    expect(repositoryRole(left, 4, repository)).toBe('none')
  })
})

test('only an active owner, or the person themselves, administers an account', () => {
  expect([1, 2, 3, 4].map(id => administers(stateWith(), id, 50))).toEqual([true, false, false, false])
  expect(administers(stateWith(), 2, 2)).toBe(true)
})

describe('an App', () => {
  const app = { id: 7, slug: 'a', permissions: {} } as App
  const installation: Installation = {
    id: 70,
    appId: 7,
    accountId: 50,
    repositorySelection: 'selected',
    repositoryIds: [100],
    permissions: { metadata: 'read', contents: 'read', administration: 'write' },
    events: [],
    createdAt: at,
    updatedAt: at,
    suspendedAt: null,
    suspendedById: null,
  }
  const token = { kind: 'user', id: 1, appId: 7, userId: 1, lastEight: '', createdAt: 0, expiresAt: 0 } as const
  const through = (installed: Installation, id: number): { state: GitHubState; actor: Actor } => {
    const made = stateWith(one => {
      one.installations = [installed]
    })
    return { state: made, actor: { kind: 'user', user: user(id), app, token } }
  }
  const level = (installed: Installation, id: number, permission: string): string => {
    const { state: made, actor } = through(installed, id)
    return permissionOn(made, actor, repository, permission)
  }

  test('acting for an owner has the access of the installation, not of the owner', () => {
    expect(level(installation, 1, 'contents')).toBe('read')
    expect(level(installation, 1, 'pull_requests')).toBe('none')
  })

  test('acting for a member has no more access than the member', () =>
    expect(level(installation, 2, 'administration')).toBe('none'))

  test.each([
    ['suspended', { ...installation, suspendedAt: at }],
    ['on other repositories', { ...installation, repositoryIds: [101] }],
    ['on another account', { ...installation, accountId: 51 }],
    ['of another App', { ...installation, appId: 8 }],
  ])('whose installation is %s has nothing', (_why, changed) => expect(level(changed, 1, 'contents')).toBe('none'))

  test('needs both: the level accepted by the installation and the level of the token', () => {
    const bot = (permissions: Installation['permissions']): Actor => ({
      kind: 'installation',
      app,
      installation,
      token: { kind: 'installation', installationId: 70, repositoryIds: null, permissions, createdAt: 0, expiresAt: 0 },
    })
    expect(permissionOn(stateWith(), bot({}), repository, 'contents')).toBe('none')
    expect(permissionOn(stateWith(), bot({ contents: 'write' }), repository, 'contents')).toBe('read')
  })
})

test('a reader of a public repository can open a pull request there; writing needs a role', () => {
  const open = { ...repository, private: false }
  const stranger: Actor = { kind: 'person', user: user(4) }
  expect(
    ['pull_requests', 'issues', 'contents', 'administration'].map(one => permissionOn(stateWith(), stranger, open, one)),
  ).toEqual(['write', 'write', 'read', 'none'])
  expect(permissionOn(stateWith(), stranger, repository, 'pull_requests')).toBe('none')
})

test('a public repository can be read by everyone and written only with permission', () => {
  const open = { ...repository, private: false }
  const nobody: Actor = { kind: 'anonymous' }
  expect([
    canSee(stateWith(), nobody, open),
    mayUse(stateWith(), nobody, open, { permission: 'contents', level: 'read' }),
  ]).toEqual([true, true])
  expect(mayUse(stateWith(), { kind: 'person', user: user(4) }, open, { permission: 'contents', level: 'write' })).toBe(false)
})
