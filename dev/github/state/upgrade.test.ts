// A world that an older version wrote is read with what it meant then.
import { expect, test } from 'vitest'
import { upgradeWorld } from './upgrade.ts'
import { emptyWorld } from './world.ts'

/** What version 1 had: no tables and no fields that came later. */
const first = () => {
  const {
    repositoryRedirects: _r,
    repositoryInvitations: _i,
    checkSuites: _s,
    checkRuns: _c,
    environments: _e,
    ...tables
  } = emptyWorld()
  const { devices: _d, archiveTickets: _a, ...credentials } = tables.credentials
  const organization = { kind: 'organization', id: 1, login: 'o', memberships: [{ userId: 2, role: 'admin', state: 'active' }] }
  const old = {
    ...tables,
    version: 1,
    lastId: 100_500,
    organizations: [organization],
    repositories: [{ id: 3, ownerId: 1, name: 'r', lastNumber: 4 }],
    apps: [{ id: 5, slug: 'a' }],
    credentials: {
      ...credentials,
      accessTokens: { u: { kind: 'user', id: 6, userId: 2 }, p: { kind: 'personal', userId: 2 } },
      refreshTokens: { r: { appId: 5, userId: 2, accessTokenKey: 'u' } },
    },
  }
  return JSON.parse(JSON.stringify(old))
}

test('a world of version 1 keeps what it has and gets what it lacks', () => {
  const world = upgradeWorld(first())
  expect(world).toMatchObject({
    version: 2,
    lastId: 100_500,
    organizations: [{ memberships: [{ userId: 2, role: 'admin', state: 'active', publicized: false }] }],
    repositories: [{ id: 3, lastNumber: 4, parentId: null, mergeMethods: { merge: true, squash: true, rebase: true } }],
    apps: [{ id: 5, deviceFlow: false }],
    credentials: { accessTokens: { u: { id: 6, scope: null } }, refreshTokens: { r: { byDevice: false } }, devices: {} },
    checkRuns: [],
    repositoryRedirects: [],
  })
  expect(world?.credentials.accessTokens['p']).not.toHaveProperty('scope')
})

test('a world of this version is read as it is, one of an unknown version not at all', () => {
  const world = emptyWorld()
  expect(upgradeWorld(world)).toEqual(world)
  expect(upgradeWorld({ ...world, version: 99 })).toBeUndefined()
})
