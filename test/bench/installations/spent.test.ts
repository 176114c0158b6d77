// What is spent is counted by the emulator's own view of each caller.
import { expect, onTestFinished, test } from 'vitest'
import { installApp } from '../../../dev/github/actions/install-app.ts'
import { startStockedEmulator } from '../../../dev/github/testing/stocked-emulator.ts'
import { createAppClient, pemSigner } from '../../../src/github/index.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { watchSpending } from './spent.ts'

test('counts requests of the App and of an installation apart, also the one that ends its token, and what is refused', async () => {
  const rateLimit = { authenticated: 5000, anonymous: 1, enforced: true } as const
  const github = await startStockedEmulator({ rateLimit })
  onTestFinished(() => github.stop())
  const [app] = github.context.state.apps
  if (app === undefined) return expect.fail('the seed has no App')
  const whole = { accountId: 2001, installerId: 1001, repositorySelection: 'all', repositoryIds: [] } as const
  const { id } = installApp(github.context, app, whole)
  const spending = watchSpending(github)
  onTestFinished(spending.close)
  const signers = [pemSigner(new SecretString(github.app.privateKeyPem))]
  const endpoints = { host: 'github.localhost', web: github.url, api: github.apiUrl }
  const client = createAppClient({ endpoints, appId: app.id, clientId: app.clientId, signers, log, clock })
  const { token } = await client.mint({ installationId: id, repositoryIds: [4001], permissions: { contents: 'read' } })
  const headers = { authorization: `Bearer ${token.reveal()}` }
  const asked = await fetch(`${github.apiUrl}/repos/acme/shop`, { headers })
  const etag = asked.headers.get('etag') ?? ''
  expect((await fetch(`${github.apiUrl}/repos/acme/shop`, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304)
  await client.revoke(token)
  expect(spending.refused()).toBe(0)
  for (const status of [200, 403]) expect((await fetch(`${github.apiUrl}/user/1001`)).status).toBe(status)
  expect(spending.refused()).toBe(1)
  expect(Object.fromEntries(spending.byCaller)).toEqual({
    [`app ID ${app.id}`]: { counted: 1, all: 1 },
    [`installation ID ${id}`]: { counted: 2, all: 3 },
    '127.0.0.1': { counted: 2, all: 2 },
  })
})
