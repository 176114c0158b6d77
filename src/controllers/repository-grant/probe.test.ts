// What GitHub's answer to the probe of a grant means: which repositories the names are, each of them once.
import { expect, test } from 'vitest'
import type { MintedToken, MintRequest } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { grantObject, host } from '../../services/token-desk/testing/desk-objects.ts'
import { knownRepositories, type ProbeDeps, probe } from './probe.ts'

const reachable = [
  { id: 4001, fullName: 'acme/shop' },
  { id: 4002, fullName: 'acme/site' },
]

function appOf(mint: (request: MintRequest) => Promise<MintedToken>): GitHubApp {
  const client = { mint, revoke: async () => {} } as unknown as GitHubApp['client']
  return { client, endpoints: { host, web: 'http://127.0.0.1:9', api: 'http://127.0.0.1:9' }, appId: 7 }
}

function minted(repositories: MintedToken['repositories']): MintedToken {
  return {
    token: new SecretString('x'),
    expiresAt: new Date(3_600_000),
    repositories,
    repositoryIds: repositories.map(({ id }) => id),
    permissions: { metadata: 'read' },
  }
}

function depsOf(): ProbeDeps {
  return {
    tokens: { intend: async () => 'id', recordMinted: async () => {}, markRevoked: async () => {}, abandon: async () => {} },
    audit: { append: async () => undefined },
    log: silentLog,
    clock: createFakeClock(),
  }
}

test('two spellings of one name are one repository', async () => {
  const asked: MintRequest[] = []
  const app = appOf(async request => {
    asked.push(request)
    return minted(reachable)
  })
  const grant = grantObject({ spec: { repositories: ['acme/shop', 'ACME/Shop', 'acme/SITE'] } })
  const answer = await probe(depsOf(), app, { grant, installationId: 1, known: undefined, lost: [], requesterId: undefined })
  expect(answer).toMatchObject({
    kind: 'found',
    repositories: [
      { id: 4001, name: 'acme/shop' },
      { id: 4002, name: 'acme/site' },
    ],
  })
  expect(asked).toHaveLength(1)
})

test('one id twice in an earlier status is one repository', async () => {
  const shop = { id: 4001, name: 'acme/shop' }
  const app = appOf(async () => minted(reachable.slice(0, 1)))
  const known = knownRepositories({ ...grantObject().status, conditions: [], repositories: [shop, shop] })
  const request = { grant: grantObject(), installationId: 1, known, lost: [], requesterId: undefined }
  expect(await probe(depsOf(), app, request)).toMatchObject({ kind: 'found', repositories: [shop] })
})

test('GitHub refuses a token for all when it does not reach one: those that it reaches are found, with few tokens', async () => {
  const known = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `acme/r${index + 1}` }))
  const gone = new Set([17, 40])
  let tokens = 0
  const app = appOf(async ({ repositoryIds = [] }) => {
    tokens += 1
    if (repositoryIds.some(id => gone.has(id)))
      throw new AppError('not_found', 'one is not accessible', { reason: 'RepositoryNotAccessible' })
    return minted(repositoryIds.map(id => ({ id, fullName: `acme/now-${id}` })))
  })
  const request = { grant: grantObject(), installationId: 1, known, requesterId: undefined }
  const answer = await probe(depsOf(), app, { ...request, lost: [] })
  expect(answer).toMatchObject({ kind: 'found', missing: [17, 40] })
  expect(answer.kind === 'found' && answer.repositories.slice(15, 18)).toEqual([
    { id: 16, name: 'acme/now-16' },
    { id: 17, name: 'acme/r17' },
    { id: 18, name: 'acme/now-18' },
  ])
  expect(tokens).toBeLessThanOrEqual(24)
  // Those that it did not reach the last time are asked for apart.
  tokens = 0
  expect(await probe(depsOf(), app, { ...request, lost: [17, 40] })).toMatchObject({ missing: [17, 40] })
  expect(tokens).toBe(4)
})

test('an installation that is gone costs one token, not one for each repository', async () => {
  let tokens = 0
  const app = appOf(async () => {
    tokens += 1
    throw new AppError('not_found', 'no such installation')
  })
  const known = reachable.map(({ id, fullName }) => ({ id, name: fullName }))
  const request = { grant: grantObject(), installationId: 1, known, lost: [], requesterId: undefined }
  expect(await probe(depsOf(), app, request)).toEqual({ kind: 'missing', names: ['acme/shop', 'acme/site'] })
  expect(tokens).toBe(1)
})

test('a token for many that is archived in part says which', async () => {
  const app = appOf(async () =>
    minted([
      { id: 4001, fullName: 'acme/shop' },
      { id: 4002, fullName: 'acme/site', archived: true },
    ]),
  )
  const known = reachable.map(({ id, fullName }) => ({ id, name: fullName }))
  const request = { grant: grantObject(), installationId: 1, known, lost: [], requesterId: undefined }
  expect(await probe(depsOf(), app, request)).toMatchObject({ kind: 'found', archived: [4002] })
})

test('for a ServiceAccount the roles of those who approved count, of whom five are asked about', async () => {
  const asked: string[] = []
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input)
    asked.push(url.pathname)
    const [, id] = /^\/user\/([0-9]+)$/.exec(url.pathname) ?? []
    if (id === '3') return Response.json({ message: 'Not Found' }, { status: 404 })
    if (id !== undefined) return Response.json({ id: Number(id), login: `person-${id}` })
    const [, login = ''] = /collaborators\/person-([0-9]+)\/permission$/.exec(url.pathname) ?? []
    // The login of the second means another account by now.
    const user = { id: login === '2' ? 99 : Number(login), login: `person-${login}` }
    return Response.json({ permission: 'write', role_name: 'write', user })
  }
  const app = appOf(async () => minted(reachable.slice(0, 1)))
  const request = { grant: grantObject(), installationId: 1, known: undefined, lost: [], requesterId: undefined }
  const answer = await probe({ ...depsOf(), fetch }, app, { ...request, approverIds: [1, 2, 3, 4, 5, 6] })
  expect(answer).toMatchObject({
    kind: 'found',
    requester: { kind: 'nobody', approvers: new Map([[4001, ['write', 'none', 'write', 'write']]]) },
  })
  expect(asked).not.toContain('/user/6')
  const nobody = await probe(depsOf(), app, { ...request, approverIds: [] })
  expect(nobody).toMatchObject({ requester: { kind: 'nobody', approvers: new Map([[4001, []]]) } })
})
