// What the meter reports: each answer once, and the rate limits of Apps and of a bounded number of installations.
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createFakeClock } from '../lib/testing/fake-clock.ts'
import { createGitHubMeter, reportedInstallations } from './metrics.ts'
import { observedFetch } from './transport/observed-fetch.ts'

const base = 'https://api.github.test'

function environment() {
  const clock = createFakeClock()
  const registry = new Registry()
  const meter = createGitHubMeter(registry, clock)
  const answer = (remaining: number, limit = 5000, status = 200): Promise<Response> => {
    const reset = Math.floor(clock.now().getTime() / 1000) + 3600
    const headers = { 'x-ratelimit-limit': `${limit}`, 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${reset}` }
    return Promise.resolve(new Response('{}', { status, headers }))
  }
  const values = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? []
  return { clock, meter, answer, values }
}

test('says what was asked for, also when GitHub did not answer', async () => {
  const { clock, meter, answer, values } = environment()
  const fetch = observedFetch(() => answer(10, 5000, 201), meter.ofApp('github.test', 1), clock)
  await fetch(`${base}/app/installations/77/access_tokens`, { method: 'POST' })
  await fetch(`${base}/installation/token`, { method: 'DELETE' })
  await fetch(`${base}/repos/acme/shop`)
  await fetch(`${base}/repos/acme/shop/statuses/1`, { method: 'POST' })
  const lost = observedFetch(() => Promise.reject(new Error('reset')), meter.requests, clock)
  await expect(lost(`${base}/app`)).rejects.toThrow('reset')
  const counted = (await values('sekisho_github_requests_total')).map(({ labels, value }) => ({ ...labels, value }))
  expect(counted).toEqual([
    { operation: 'mint', code: '201', value: 1 },
    { operation: 'revoke', code: '201', value: 1 },
    { operation: 'read', code: '201', value: 1 },
    { operation: 'write', code: '201', value: 1 },
    { operation: 'read', code: '0', value: 1 },
  ])
})

test('reports the installations that have the least left, whatever their number, and none after its hour', async () => {
  const { clock, meter, answer, values } = environment()
  for (let id = 1; id <= 500; id++) {
    await observedFetch(() => answer(5000 - id), meter.ofInstallation('github.test', id), clock)(`${base}/rate`)
  }
  const left = await values('sekisho_github_installation_rate_limit_remaining_requests')
  expect(left).toHaveLength(reportedInstallations)
  expect(left[0]).toMatchObject({ labels: { host: 'github.test', installation: '500' }, value: 4500 })
  await clock.advance(3_600_000)
  expect(await values('sekisho_github_installation_rate_limit_remaining_requests')).toEqual([])
})

test('does not count another resource, such as search, against the limit', async () => {
  const { clock, meter, values } = environment()
  const headers = { 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '99999999999' }
  const search = (resource: string) =>
    Promise.resolve(new Response('{}', { headers: { ...headers, 'x-ratelimit-resource': resource } }))
  await observedFetch(() => search('search'), meter.ofApp('github.test', 1), clock)(`${base}/search`)
  expect(await values('sekisho_github_app_rate_limit_requests')).toEqual([])
  await observedFetch(() => search('core'), meter.ofApp('github.test', 1), clock)(`${base}/app`)
  expect(await values('sekisho_github_app_rate_limit_requests')).toMatchObject([{ labels: { app: '1' }, value: 30 }])
})

test('says how much is left to an installation: the smaller share of its own limit and its App’s; all of it when unknown', async () => {
  const { clock, meter, answer } = environment()
  const of = (installationId: number, host = 'github.test', appId = 1) => meter.leftOf({ host, appId, installationId })
  expect(of(7)).toBe(1)
  await observedFetch(() => answer(1000), meter.ofInstallation('github.test', 7), clock)(`${base}/rate_limit`)
  await observedFetch(() => answer(2500), meter.ofApp('github.test', 1), clock)(`${base}/app`)
  expect([of(7), of(8), of(8, 'github.test', 2), of(7, 'other.test')]).toEqual([0.2, 0.5, 1, 1])
  // The answer to a revocation is about the token that it ends.
  await observedFetch(() => answer(0), meter.ofApp('github.test', 1), clock)(`${base}/installation/token`, { method: 'DELETE' })
  expect(of(8)).toBe(0.5)
  await observedFetch(() => answer(0, 0), meter.ofInstallation('github.test', 9), clock)(`${base}/rate_limit`)
  expect(of(9)).toBe(0)
  await clock.advance(3_600_000)
  expect(of(7)).toBe(1)
})
