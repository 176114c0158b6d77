// An App is created before its key, gets the key of another App, and then its own.
import { generateKeyPairSync } from 'node:crypto'
import { clusterGitHubApp } from '../../../src/api/github/cluster-github-app.ts'
import { applyApp, applyKey } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { ready } from './waits.ts'

const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()

export const clusterGitHubAppScenario: Scenario = {
  name: 'cluster-github-app: no key, wrong key, right key',
  shortPoints: 'all',
  controllers: ['cluster-github-app'],
  environment: { component: 'controllers', namespace: 'made', github: 'account' },
  async act(environment) {
    await applyApp(environment)
    await ready(environment, clusterGitHubApp, environment.appName, 'PrivateKeyMissing')
    await applyKey(environment, foreignKey)
    await ready(environment, clusterGitHubApp, environment.appName, 'PrivateKeyRefused')
    await applyKey(environment)
    await ready(environment, clusterGitHubApp, environment.appName, 'Verified')
  },
  compares: [clusterGitHubApp],
}
