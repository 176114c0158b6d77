import { expect, test } from 'vitest'
import { type ClusterGitHubApp, clusterGitHubApp } from '../api/github/cluster-github-app.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import { systemClock } from '../lib/clock.ts'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createBrokerGitHub } from './github.ts'

function githubOn(host: string | undefined) {
  const app: ClusterGitHubApp = {
    apiVersion: clusterGitHubApp.apiVersion,
    kind: clusterGitHubApp.kind,
    metadata: { name: 'default' },
    spec: { host: host ?? '', appId: 1, clientId: 'c', privateKeys: [{ secretName: 's', key: 'k' }] },
  }
  const apps = { get: () => (host === undefined ? undefined : app) } as unknown as Cache<ClusterGitHubApp>
  const clientSecret = new SecretString('secret')
  return createBrokerGitHub({ appName: 'default', clientSecret, apps, log: silentLog, clock: systemClock })
}

test('a token that one host issued is never sent to another, nor refreshed there', () => {
  const github = githubOn('ghe.example.com')
  const refused = expect.objectContaining({ code: 'unauthenticated', message: expect.stringContaining('sign in again') })
  expect(() => github.userClient('github.com', new SecretString('t'))).toThrow(refused)
  expect(() => github.oauthOf('github.com')).toThrow(refused)
  expect(github.userClient('ghe.example.com', new SecretString('t'))).toBeDefined()
  expect(github.oauthOf('ghe.example.com')).toBeDefined()
})

test('without the App nothing is sent anywhere', () => {
  const github = githubOn(undefined)
  for (const use of [() => github.oauth(), () => github.oauthOf('github.com'), () => github.app()])
    expect(use).toThrow(expect.objectContaining({ code: 'unavailable' }))
})
