// The pages of builds: what is text stays text, and a page waits for a build only while it runs.
import { expect, test } from 'vitest'
import type { BuildRecord } from '../../store/builds/build-record.ts'
import { buildPage, buildsPage } from './builds.ts'

const person = { host: 'github.com', userId: 1, login: 'dave', subject: 'github|github.com|1', csrf: 'c' }
const createdAt = new Date('2026-01-01T00:00:00Z')
const now = new Date('2026-01-01T00:01:05Z')
const running: BuildRecord = {
  ...{ id: '1', namespace: 'acme', buildNamespace: 'acme-build', name: 'shop-1', remoteSync: { name: 'shop', uid: 'u' } },
  ...{ commit: 'a'.repeat(40), attempt: 2, createdAt, bytes: 10, leftOut: 0 },
  steps: [
    { name: 'prepare', state: 'Succeeded' },
    { name: 'build', state: 'Running' },
  ],
}
const failed: BuildRecord = { ...running, leftOut: 7, ended: { at: now, outcome: 'Failed', cause: 'no <script> "build"' } }
const page = (build: BuildRecord, log = '<b>&'): string => buildPage({ person, build, log, isWhole: true, now }).toString()

test('what a build printed, and why it failed, is text', () => {
  expect(page(failed)).toContain('&lt;b&gt;&amp;</pre>')
  expect(page(failed)).toContain('no &lt;script&gt; &quot;build&quot;</p>')
  expect(page(failed)).toContain('7 bytes of its middle are left out')
})

test('a page refreshes while the build runs, and no longer', () => {
  expect(page(running)).toContain('http-equiv="refresh"')
  expect(page(running)).toContain('Running: build')
  expect(page(running)).toContain('1 min 5 s')
  expect(page(failed)).not.toContain('http-equiv="refresh"')
})

test('a list refreshes while a build runs or waits', () => {
  const list = (builds: readonly BuildRecord[], queued: readonly string[] = []): string => {
    const waiting = queued.map(remoteSync => ({ remoteSync, commit: '', message: '3rd of 5 builds of this tenant that wait' }))
    return buildsPage({ person, namespace: 'acme', list: { builds, queued: waiting }, now }).toString()
  }
  expect(list([failed])).not.toContain('http-equiv="refresh"')
  expect(list([failed, running])).toContain('http-equiv="refresh"')
  expect(list([], ['web'])).toContain('3rd of 5 builds of this tenant that wait')
  expect(list([], ['web'])).toContain('http-equiv="refresh"')
})
