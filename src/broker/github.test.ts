import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { type ClusterGitHubApp, clusterGitHubApp } from '../api/github/cluster-github-app.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import { systemClock } from '../lib/clock.ts'
import { SecretString } from '../lib/secret-string.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createBrokerGitHub } from './github.ts'
import { createBrokerMetrics } from './metrics.ts'

function githubOn(
  host: string | undefined,
  { api, registry = new Registry(), beside = [] }: { api?: string; registry?: Registry; beside?: ClusterGitHubApp[] } = {},
) {
  const endpoints = api === undefined ? {} : { endpoints: { api, web: api } }
  const { askedGitHub: observe } = createBrokerMetrics(registry)
  const app: ClusterGitHubApp = {
    apiVersion: clusterGitHubApp.apiVersion,
    kind: clusterGitHubApp.kind,
    metadata: { name: 'default' },
    spec: { host: host ?? '', ...endpoints, appId: 1, clientId: 'c', privateKeys: [{ secretName: 's', key: 'k' }] },
  }
  const found = host === undefined ? [] : [app]
  const apps = { get: () => found[0], list: () => [...found, ...beside] } as unknown as Cache<ClusterGitHubApp>
  const clientSecret = new SecretString('secret')
  return createBrokerGitHub({ appName: 'default', clientSecret, apps, observe, log: silentLog, clock: systemClock })
}

test('a token that one host issued is never sent to another, nor refreshed there', () => {
  const github = githubOn('ghe.example.com')
  const refused = expect.objectContaining({ code: 'unauthenticated', message: expect.stringContaining('sign in again') })
  expect(() => github.userClient('github.com', new SecretString('t'))).toThrow(refused)
  expect(() => github.oauthOf('github.com')).toThrow(refused)
  expect(github.userClient('ghe.example.com', new SecretString('t'))).toBeDefined()
  expect(github.oauthOf('ghe.example.com')).toBeDefined()
})

test('an App that says that a host is elsewhere than an older App says is not signed in with', () => {
  const older = {
    metadata: { name: 'older', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { host: 'github.com' },
  } as ClusterGitHubApp
  const github = githubOn('github.com', { api: 'https://evil.example', beside: [older] })
  for (const use of [() => github.oauth(), () => github.app(), () => github.userClient('github.com', new SecretString('t'))])
    expect(use).toThrow(expect.objectContaining({ code: 'invalid_configuration' }))
})

test('without the App nothing is sent anywhere', () => {
  const github = githubOn(undefined)
  for (const use of [() => github.oauth(), () => github.oauthOf('github.com'), () => github.app()])
    expect(use).toThrow(expect.objectContaining({ code: 'unavailable' }))
})

test('requests in the name of people are counted with their answers', async () => {
  const registry = new Registry()
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"id":42,"login":"mona"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = githubOn('ghe.example.com', { api, registry }).userClient('ghe.example.com', new SecretString('t'))
  expect(await client.user()).toEqual({ id: 42, login: 'mona' })
  server.close()
  const counted = await registry.getSingleMetricAsString('sekisho_broker_github_requests_total')
  expect(counted).toContain('{operation="read",code="200"} 1')
  expect(await registry.getSingleMetricAsString('sekisho_broker_github_request_duration_seconds')).toContain('_count 1')
})
