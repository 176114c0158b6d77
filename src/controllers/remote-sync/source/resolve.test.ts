import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient } from '../../../github/index.ts'
import { commit, now, sync } from '../testing/remote-sync.ts'
import { mergeWait } from './pull-request.ts'
import { type CommitReader, findCommit } from './resolve.ts'

type CommitFacts = NonNullable<Awaited<ReturnType<RepositoryClient['commit']>>>
type PullRequestFacts = NonNullable<Awaited<ReturnType<RepositoryClient['pullRequest']>>>

const current = async () => ({ id: 7, fullName: 'acme/shop', defaultBranch: 'trunk' })
const repository = { id: 7, fullName: 'acme/shop', current }
const head = 'b'.repeat(40)

type Found = {
  readonly merge?: CommitFacts
  readonly branch?: string
  readonly renamedTo?: string
  readonly skips?: boolean
  readonly pullRequest?: PullRequestFacts
  readonly own?: boolean
}

const [mergeSha, base] = ['c'.repeat(40), 'd'.repeat(40)]
const since = '2026-01-01T11:59:00.000Z'

function find(source: RemoteSync['spec']['source'], found: Found = {}, status: RemoteSync['status'] = {}) {
  const client: CommitReader = {
    branch: async (_id, name) => (name === 'trunk' ? found.branch : undefined),
    async branchHead(_id, name) {
      const isAsked = found.branch !== undefined && name === (source.branch ?? 'trunk')
      return isAsked ? { name: found.renamedTo ?? name, commit: found.branch ?? '', skips: found.skips === true } : undefined
    },
    pullRequest: async () => found.pullRequest,
    commit: async (_id, sha) => (sha === mergeSha ? found.merge : undefined),
    hasCommit: async (id, _commit, branch) => found.own === true && id === 7 && branch === 'trunk',
  }
  return findCommit(client, { ...sync({ source }), status }, repository, now)
}

function pullRequest(changes: Partial<PullRequestFacts> = {}): PullRequestFacts {
  const ends = { headSha: head, headRepositoryId: 7, baseRepositoryId: 7, baseBranch: 'trunk' }
  return { state: 'open', ...ends, mergeable: true, mergeCommit: mergeSha, ...changes }
}

test.each<[string, Promise<unknown>, unknown]>([
  ['a commit of the repository is itself', find({ commit }, { own: true }), commit],
  ['a branch is its head', find({ branch: 'main' }, { branch: head }), head],
  ['nothing is the head of the default branch', find({}, { branch: head }), head],
  ['a pull request is its head', find({ pullRequest: 3 }, { pullRequest: pullRequest() }), head],
])('%s', async (_what, found, expected) => {
  expect(await found).toMatchObject({ kind: 'commit', commit: expected })
})

test('a branch is shown by its present name, and with what the message of its newest commit asks for', async () => {
  const asked = find({ branch: 'master' }, { branch: head, renamedTo: 'main', skips: true })
  expect(await asked).toEqual({ kind: 'commit', commit: head, branch: { name: 'main', skips: true } })
})

test.each<[string, Promise<unknown>, object]>([
  [
    'a branch that does not exist',
    find({ branch: 'main' }),
    { reason: 'BranchNotFound', message: 'spec.source.branch: acme/shop has no branch main: push it, or name another one' },
  ],
  [
    'a repository without a commit',
    find({}),
    { reason: 'BranchNotFound', message: expect.stringContaining('default branch trunk of acme/shop has no commit') },
  ],
  ['a pull request that does not exist', find({ pullRequest: 3 }), { reason: 'PullRequestNotFound' }],
  [
    'a pull request into another repository',
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ baseRepositoryId: 8 }) }),
    { reason: 'PullRequestNotFound' },
  ],
  [
    'a closed pull request',
    find({ pullRequest: 3 }, { pullRequest: pullRequest({ state: 'closed' }) }),
    { reason: 'PullRequestClosed' },
  ],
  ['a commit that is not in the repository', find({ commit }), { reason: 'CommitNotInRepository' }],
])('%s halts', async (_what, found, expected) => {
  expect(await found).toMatchObject({ kind: 'none', halt: { stage: 'Resolved', ...expected } })
})

const followed = { number: 3, headCommit: head, headRepository: 7, baseBranch: 'trunk' }

test('a pull request is shown with the repository of its head, which may be a fork, and may be gone', async () => {
  expect(await find({ pullRequest: 3 }, { pullRequest: pullRequest() })).toMatchObject({ head: followed })
  const fork = await find({ pullRequest: 3 }, { pullRequest: pullRequest({ headRepositoryId: 8 }) })
  expect(fork).toMatchObject({ commit: head, head: { ...followed, headRepository: 8 } })
  const gone = await find({ pullRequest: 3 }, { pullRequest: pullRequest({ headRepositoryId: undefined }) })
  expect(gone.head).toEqual({ number: 3, headCommit: head, baseBranch: 'trunk' })
})

test('a long name of a branch is cut in the status only', async () => {
  const found = await find({ pullRequest: 3 }, { pullRequest: pullRequest({ baseBranch: `${'x'.repeat(299)}\u{1f600}y` }) })
  expect(found.head?.baseBranch).toHaveLength(300)
  expect(found.head?.baseBranch.isWellFormed()).toBe(true)
})

describe('the merge commit', () => {
  const source = { pullRequest: 3, mergeCommit: true }
  const merge = { tree: 'e'.repeat(40), parents: [base, head] }
  const other = 'f'.repeat(40)

  test('is the one that GitHub made of the present base and head', async () => {
    const found = await find(source, { pullRequest: pullRequest(), merge, branch: base })
    expect(found).toEqual({ kind: 'commit', commit: mergeSha, tree: merge.tree, head: { ...followed, baseCommit: base } })
  })

  test('does not exist while they conflict', async () => {
    const found = await find(source, { pullRequest: pullRequest({ mergeable: false }), merge, branch: base })
    expect(found).toMatchObject({ kind: 'none', halt: { reason: 'MergeConflict' }, head: { ...followed, baseCommit: base } })
    expect(found.kind === 'none' && found.halt.message).toContain('conflicts with branch trunk')
  })

  test('is asked for once more a minute after the two were first seen in conflict, and not again until one of them is another', async () => {
    const known = { ...followed, baseCommit: base, conflictSince: since }
    const conflicting = (before: typeof known | undefined, mergeBase = base) =>
      find(
        source,
        { pullRequest: pullRequest({ mergeable: false }), branch: mergeBase },
        before === undefined ? {} : { pullRequest: before },
      )
    const first = { halt: { requeueAfterMilliseconds: 60_000 }, head: { conflictSince: now.toISOString() } }
    expect(await conflicting(undefined)).toMatchObject(first)
    expect(await conflicting({ ...known, headCommit: other })).toMatchObject(first)
    expect(await conflicting(known, other)).toMatchObject(first)
    const again = await conflicting({ ...known, conflictSince: '2026-01-01T11:59:30.500Z' })
    expect(again).toMatchObject({
      halt: { requeueAfterMilliseconds: 30_000 },
      head: { conflictSince: '2026-01-01T11:59:30.500Z' },
    })
    const certain = await conflicting(known)
    expect(certain).toMatchObject({ halt: { reason: 'MergeConflict' }, head: known })
    expect(certain.kind === 'none' && certain.halt).not.toHaveProperty('requeueAfterMilliseconds')
  })

  test.each<[string, Found]>([
    ['it was not computed', { pullRequest: pullRequest({ mergeable: undefined }) }],
    ['GitHub names none', { pullRequest: pullRequest({ mergeCommit: undefined }) }],
    ['GitHub does not have it any more', {}],
    ['it is made of an earlier head', { merge: { ...merge, parents: [base, other] } }],
    ['it is made of an earlier base', { branch: other }],
    ['the base branch is gone', { merge, branch: undefined as unknown as string }],
    ['it is the merge of something else', { merge: { ...merge, parents: [head, base] } }],
    ['it has a third parent', { merge: { ...merge, parents: [base, head, other] } }],
    ['it is not a merge', { merge: { ...merge, parents: [base] } }],
  ])('is waited for while %s', async (what, changes) => {
    const isGone = what.includes('any more')
    const found = await find(source, { pullRequest: pullRequest(), ...(isGone ? {} : { merge }), branch: base, ...changes })
    expect(found).toMatchObject({ kind: 'none', halt: { reason: 'MergePending', requeueAfterMilliseconds: 1000 } })
    expect(found.head?.mergePendingSince).toBe(now.toISOString())
  })

  test('is asked for less and less often, and at once for another pull request', async () => {
    const waiting = { pullRequest: pullRequest({ mergeable: undefined }) }
    const again = await find(source, waiting, { pullRequest: { ...followed, mergePendingSince: since } })
    expect(again).toMatchObject({ halt: { requeueAfterMilliseconds: 60_500 }, head: { mergePendingSince: since } })
    const another = await find(source, waiting, { pullRequest: { ...followed, number: 4, mergePendingSince: since } })
    expect(another).toMatchObject({ halt: { requeueAfterMilliseconds: 1000 } })
    expect(mergeWait('2026-01-01T00:00:00Z', now)).toBe(300_000)
    expect(mergeWait('2027-01-01T00:00:00Z', now)).toBe(1000)
  })
})
