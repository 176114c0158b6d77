// What GitHub's answer to the probe of a grant means: which repositories the names are, each of them once.
import { expect, test } from 'vitest'
import type { MintedToken, MintRequest } from '../../github/index.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { grantObject, host } from '../../services/token-desk/testing/desk-objects.ts'
import { type ProbeDeps, probe } from './probe.ts'

const reachable = [
  { id: 4001, fullName: 'acme/shop' },
  { id: 4002, fullName: 'acme/site' },
]

function appOf(mint: (request: MintRequest) => Promise<MintedToken>): GitHubApp {
  const client = { mint, revoke: async () => {} } as unknown as GitHubApp['client']
  return { client, endpoints: { host, web: 'http://127.0.0.1:9', api: 'http://127.0.0.1:9' }, appId: 7 }
}

function minted(repositories: typeof reachable): MintedToken {
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
  const request = { grant: grantObject(), installationId: 1, known: [shop, shop], lost: [], requesterId: undefined }
  expect(await probe(depsOf(), app, request)).toMatchObject({ kind: 'found', repositories: [shop] })
})
