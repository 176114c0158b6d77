import { expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { failedCommitOf } from './builds-retry.ts'

const commit = 'a'.repeat(40)
const failure = { stage: 'Built', reason: 'BuildFailed', message: 'm' }

function sync(status: object, spec: object = {}, metadata: object = {}): RemoteSync {
  return { metadata: { name: 'shop', ...metadata }, spec, status } as unknown as RemoteSync
}

test('the newest commit gets another attempt when its build failed', () => {
  expect(failedCommitOf(sync({ commit, failedCommit: commit, failure }))).toBe(commit)
})

const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', name: 'shop', uid: 'u', controller: true }

test.each([
  ['nothing failed', sync({ commit }), 'nothing failed at the newest commit'],
  ['an older commit failed', sync({ commit, failedCommit: 'b'.repeat(40), failure }), 'nothing failed'],
  ['no commit is known', sync({}), 'no commit is known yet'],
  ['it is suspended', sync({ commit, failedCommit: commit, failure }, { suspend: true }), 'spec.suspend'],
  ['it is of a preview', sync({ commit, failedCommit: commit, failure }, {}, { ownerReferences: [owner] }), 'pull request'],
  [
    'the source itself cannot be built',
    sync({ commit, failedCommit: commit, failure: { stage: 'Fetched', reason: 'SourceTooLarge', message: 'too many files' } }),
    'too many files',
  ],
])('not when %s', (_why, object, text) => {
  expect(() => failedCommitOf(object)).toThrow(text)
})
