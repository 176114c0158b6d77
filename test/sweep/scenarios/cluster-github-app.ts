// An App is made before its key, gets a stranger's key, and then its own.
import { generateKeyPairSync } from 'node:crypto'
import { clusterGitHubApp } from '../../../src/api/github/cluster-github-app.ts'
import { applyApp, applyKey } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { ready } from './waits.ts'

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()

export const clusterGitHubAppScenario: Scenario = {
  name: 'cluster-github-app: no key, wrong key, right key',
  controllers: ['cluster-github-app'],
  world: { part: 'controllers', namespace: 'made', github: 'account' },
  async act(world) {
    await applyApp(world)
    await ready(world, clusterGitHubApp, world.appName, 'PrivateKeyMissing')
    await applyKey(world, stranger)
    await ready(world, clusterGitHubApp, world.appName, 'PrivateKeyRefused')
    await applyKey(world)
    await ready(world, clusterGitHubApp, world.appName, 'Verified')
  },
  sees: [clusterGitHubApp],
}
