// The test merge of head and base, as GitHub makes it: a merge commit at `refs/pull/<number>/merge`. GitHub computes it in the
// background after somebody asked for the pull request, so that the first answer after a push does not know it yet. A conflict
// leaves the ref where it was.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-your-git-database#checking-mergeability-of-pull-requests
import { createKeyedMutex } from '../../../../src/lib/limits/keyed-mutex.ts'
import { commitTree, mergedTree } from '../../git/write.ts'
import type { MergeTest, PullRequest } from '../../state/repositories.ts'
import type { ActionContext } from '../context.ts'

type Context = Pick<ActionContext, 'git' | 'store' | 'now' | 'faults'>

/** The author of the commits that GitHub makes itself. */
const author = { name: 'GitHub', email: 'noreply@github.com' }

/** The test of head and base as they are now; `undefined` when there is none, and for a closed pull request. */
export function currentTest({ state, base, head, mergeTest }: PullRequest): MergeTest | undefined {
  return state === 'open' && mergeTest?.base === base.sha && mergeTest.head === head.sha ? mergeTest : undefined
}

/** Who asks meanwhile gets the same commit: a second test would make another one, by the time that passed. */
const turns = createKeyedMutex()

/** Tests head and base as they are now, unless that has been done. A push during the test makes its result an outdated one. */
export function testMerge(context: Context, pull: PullRequest): Promise<void> {
  return turns.run(`${pull.repositoryId}/${pull.number}`, () => testInTurn(context, pull))
}

async function testInTurn({ git, store, now }: Context, pull: PullRequest): Promise<void> {
  if (pull.state !== 'open' || currentTest(pull)) return
  const { repositoryId, number } = pull
  const [base, head] = [pull.base.sha, pull.head.sha]
  const tree = await mergedTree(git, repositoryId, base, head)
  const commit =
    tree &&
    (await commitTree(git, repositoryId, {
      tree,
      parents: [base, head],
      message: `Merge ${head} into ${base}\n`,
      author,
      at: now(),
    }))
  if (commit !== undefined) await git.updateRef(repositoryId, `refs/pull/${number}/merge`, commit)
  store.change(() => {
    pull.mergeTest = { base, head, mergeable: tree !== undefined, commit: commit ?? pull.mergeTest?.commit ?? null }
  })
}

/** What asking for a pull request causes: the test, unless a fault says that GitHub does not come to it. */
export async function requestTest(context: Context, pull: PullRequest): Promise<void> {
  if (pull.state !== 'open' || currentTest(pull) || context.faults.take('merge-not-tested')) return
  await testMerge(context, pull)
}
