import { expect, test } from 'vitest'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../github/index.ts'
import { findCommit } from './resolve.ts'
import { commit } from './testing/remote-sync.ts'

type PullRequestFacts = NonNullable<Awaited<ReturnType<RepositoryClient['pullRequest']>>>

const repository = { id: 7, fullName: 'acme/shop' }
const head = 'b'.repeat(40)

function find(source: RemoteSync['spec']['source'], found: { branch?: string; pullRequest?: PullRequestFacts } = {}) {
  const client = { branch: async () => found.branch, pullRequest: async () => found.pullRequest }
  return findCommit(client, source, repository)
}

function pullRequest(baseRepositoryId: number): PullRequestFacts {
  return { headSha: head, baseRepositoryId }
}

test.each<[string, Promise<unknown>, unknown]>([
  ['a fixed commit is itself', find({ commit }), commit],
  ['a branch is its head', find({ branch: 'main' }, { branch: head }), head],
  ['a pull request is its head', find({ pullRequest: 3 }, { pullRequest: pullRequest(7) }), head],
])('%s', async (_what, found, expected) => {
  expect(await found).toBe(expected)
})

test.each<[string, Promise<unknown>, object]>([
  [
    'a branch that does not exist',
    find({ branch: 'main' }),
    { reason: 'BranchNotFound', message: 'spec.source.branch: acme/shop has no branch main: push it, or name another one' },
  ],
  ['a pull request that does not exist', find({ pullRequest: 3 }), { reason: 'PullRequestNotFound' }],
  [
    'a pull request into another repository',
    find({ pullRequest: 3 }, { pullRequest: pullRequest(8) }),
    { reason: 'PullRequestNotFound' },
  ],
])('%s halts', async (_what, found, expected) => {
  expect(await found).toMatchObject({ stage: 'Resolved', ...expected })
})
