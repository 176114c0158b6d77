// What a release consists of: which changes make another one, and what stays the present one when a release runs again.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { applicationOf, contentHash, snapshotOf } from './release-content.ts'
import { application } from './testing/application.ts'

const before = application()
const web = { ...before.spec.processes?.[0], name: 'web' } as NonNullable<Application['spec']['processes']>[number]

test.each<[string, Partial<Application['spec']>]>([
  ['the number of pods', { processes: [{ ...web, replicas: 5 }] }],
  ['autoscaling', { processes: [{ ...web, autoscaling: { minReplicas: 1, maxReplicas: 3, cpuPercent: 80 } }] }],
  ['the number of pods by kubectl scale', { replicas: 4 }],
  ['host names', { domains: ['shop.example.com'] }],
  ['suspension', { suspend: true }],
  ['a restart', { restartedAt: '2026-01-01T00:00:00Z' }],
  ['a pin', { pinnedRelease: 1 }],
  ['how many releases are kept', { releasesKept: 5 }],
  ['limits of the rollout', { rollout: { timeoutSeconds: 60, whenUnhealthy: 'Keep' } }],
])('%s makes no release', (_what, change) => {
  expect(contentHash(application(change), {})).toBe(contentHash(before, {}))
})

test.each<[string, Partial<Application['spec']>, Record<string, string>]>([
  ['another image', { image: 'registry.test/shop@sha256:2' }, {}],
  ['another command', { processes: [{ ...web, command: ['node', 'other.js'] }] }, {}],
  ['the environment', { env: [{ name: 'A', value: '2' }] }, {}],
  ['the release job', { releaseJob: { command: ['migrate'], timeoutSeconds: 60 } }, {}],
  ['another value of a secret', {}, { database: '2' }],
])('%s makes one', (_what, change, secretVersions) => {
  expect(contentHash(application(change), secretVersions)).not.toBe(contentHash(before, {}))
})

test('the order of fields makes no release', () => {
  const text = (value: object): string => JSON.stringify(value)
  fc.assert(
    fc.property(fc.shuffledSubarray(Object.keys(before.spec), { minLength: Object.keys(before.spec).length }), names => {
      const spec = Object.fromEntries(names.map(name => [name, (before.spec as Record<string, unknown>)[name]]))
      expect(text(Object.keys(spec).sort())).toBe(text(Object.keys(before.spec).sort()))
      expect(contentHash({ ...before, spec: spec as Application['spec'] }, {})).toBe(contentHash(before, {}))
    }),
  )
})

test('a release that runs again keeps the present scale, host names and volumes, and has its own image, processes and environment', () => {
  const snapshot = snapshotOf(application({ env: [{ name: 'A', value: 'old' }] }))
  const present = application({
    image: 'registry.test/shop@sha256:2',
    processes: [
      { ...web, replicas: 7 },
      { ...web, name: 'mailer' },
    ],
    domains: ['shop.example.com'],
    volumes: [
      {
        name: 'data',
        size: '1Gi',
        path: '/data',
        processes: ['web', 'mailer'],
        whenDeleted: 'Keep',
        accessMode: 'ReadWriteOnce',
      },
    ],
  })
  const again = applicationOf(present, snapshot)
  expect(again.spec).toMatchObject({
    image: before.spec.image,
    env: [{ name: 'A', value: 'old' }],
    domains: ['shop.example.com'],
    processes: [{ name: 'web', replicas: 7 }],
    // The process does not exist in the release; the volume and its content do.
    volumes: [{ name: 'data', processes: ['web'] }],
  })
  expect(contentHash(again, {})).toBe(contentHash(application({ env: [{ name: 'A', value: 'old' }] }), {}))
})
