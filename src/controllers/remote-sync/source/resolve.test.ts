import { expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import { commit } from '../testing/remote-sync.ts'
import { type CommitReader, findCommit } from './resolve.ts'

type PullRequestFacts = NonNullable<Awaited<ReturnType<RepositoryClient['pullRequest']>>>

const current = async () => ({ id: 7, fullName: 'acme/shop', defaultBranch: 'trunk' })
const repository = { id: 7, fullName: 'acme/shop', current }
const head = 'b'.repeat(40)

type Found = { readonly branch?: string; readonly pullRequest?: PullRequestFacts; readonly own?: boolean }

function find(source: RemoteSync['spec']['source'], found: Found = {}) {
  const client: CommitReader = {
    branch: async () => found.branch,
    pullRequest: async () => found.pullRequest,
    hasCommit: async (id, _commit, branch) => found.own === true && id === 7 && branch === 'trunk',
  }
  return findCommit(client, source, repository)
}

function pullRequest(changes: Partial<PullRequestFacts> = {}): PullRequestFacts {
  return { state: 'open', headSha: head, headRepositoryId: 7, baseRepositoryId: 7, ...changes }
}

test.each<[string, Promise<unknown>, unknown]>([
  ['a commit of the repository is itself', find({ commit }, { own: true }), commit],
  ['a branch is its head', find({ branch: 'main' }, { branch: head }), head],
  ['a pull request is its head', find({ pullRequest: 3 }, { pullRequest: pullRequest() }), head],
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
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ baseRepositoryId: 8 }) }),
    { reason: 'PullRequestNotFound' },
  ],
  [
    'a pull request of a fork',
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ headRepositoryId: 8 }) }),
    { reason: 'PullRequestFromFork' },
  ],
  [
    'a pull request of a fork that was deleted',
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ headRepositoryId: undefined }) }),
    { reason: 'PullRequestFromFork' },
  ],
  [
    'a closed pull request',
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ state: 'closed' }) }),
    { reason: 'PullRequestClosed' },
  ],
  ['a commit that is not in the repository', find({ commit }), { reason: 'CommitNotInRepository' }],
])('%s halts', async (_what, found, expected) => {
  expect(await found).toMatchObject({ stage: 'Resolved', ...expected })
})
