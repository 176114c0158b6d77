// Apps that contradict each other about where a host is.
import { expect, test } from 'vitest'
import type { ClusterGitHubApp } from '../api/github/cluster-github-app.ts'
import { hostConflict } from './host-conflict.ts'

type Endpoints = NonNullable<ClusterGitHubApp['spec']['endpoints']>

function app(name: string, second: number, host: string, endpoints?: Endpoints) {
  const metadata = { name, creationTimestamp: `2026-01-01T00:00:0${second}Z` }
  const spec = { host, appId: 1, clientId: 'c', privateKeys: [{ secretName: 's', key: 'k' }], ...(endpoints && { endpoints }) }
  return { metadata, spec }
}

const elsewhere = { web: 'https://evil.example', api: 'https://evil.example/api/v3' }
const first = app('first', 1, 'github.com')
const younger = app('a-younger', 2, 'github.com', elsewhere)

test('the oldest App of a host says where it is, whatever the order', () => {
  for (const apps of [
    [first, younger],
    [younger, first],
  ]) {
    expect(hostConflict(first, apps)).toBeUndefined()
    expect(hostConflict(younger, apps)).toContain('by the older ClusterGitHubApp first it is at https://api.github.com')
  }
})

test('Apps that say the same do not contradict each other, nor do those of other hosts', () => {
  const same = app('same', 2, 'github.com', { web: 'https://github.com/', api: 'https://api.github.com/' })
  const other = app('other', 1, 'github.example.com', elsewhere)
  expect(hostConflict(same, [first, same, other])).toBeUndefined()
  expect(hostConflict(other, [first, same, other])).toBeUndefined()
})

test('of the same second the name decides, so that two replicas agree', () => {
  const [a, b] = [app('a', 1, 'github.com'), app('b', 1, 'github.com', elsewhere)]
  expect([hostConflict(a, [b, a]), hostConflict(b, [b, a])]).toEqual([undefined, expect.stringContaining('ClusterGitHubApp a')])
})

test('an App that is not among those that were read is still compared', () => {
  expect(hostConflict(younger, [first])).toBeDefined()
  expect(hostConflict(first, [younger])).toBeUndefined()
})
