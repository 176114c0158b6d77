// The App installed on acme of an emulator, with the product's doors to it.
import { expect } from 'vitest'
import { installApp } from '../../dev/github/actions/install-app.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { createAppDoor, createOrganizationDoor, createRepositoryDoor } from '../../src/github/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'

export function installedSite(github: RunningEmulator) {
  const [app] = github.context.world.apps
  if (!app) return expect.fail('the seed has no App')
  const olivia = 1001
  const acme = 2001
  const installation = installApp(github.context, app, acme, olivia, { repositorySelection: 'all', repositoryIds: [] })
  const endpoints = { host: 'github.localhost', web: github.url, api: github.apiUrl }
  const shared = { endpoints, log: silentLog, clock: systemClock }
  return {
    installation,
    door: createAppDoor({
      ...shared,
      appId: github.app.id,
      clientId: github.app.clientId,
      privateKeys: [new SecretString(github.app.privateKeyPem)],
    }),
    repositoryDoor: (token: SecretString) => createRepositoryDoor({ ...shared, token }),
    organizationDoor: (token: SecretString) => createOrganizationDoor({ ...shared, token }),
  }
}
