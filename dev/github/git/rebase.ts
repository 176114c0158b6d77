// Owns: replaying commits onto another one, on objects only. Moves no ref.

import type { GitStore } from './store.ts'
import { type Author, commitTree, mergedTree } from './write.ts'

/** GitHub does not rebase more. */
export const mostRebased = 100

/**
 * The last of the commits of `head` replayed onto `base`, or `undefined` when one of them conflicts or they are too many. Merges are
 * left out, as `git rebase` does; so is a commit that changes nothing any more. Who wrote a commit and when is kept.
 */
export const rebased = async (
  git: GitStore,
  repositoryId: number,
  base: string,
  head: string,
  committer: { readonly who: Author; readonly at: number },
): Promise<string | undefined> => {
  const found = await git.commits(repositoryId, base, head, mostRebased + 1)
  if (found.length > mostRebased) return undefined
  let tip = await git.commit(repositoryId, base)
  for (const commit of [...found].reverse().filter(one => one.parents.length <= 1)) {
    // A commit with the tip's tree and the replayed commit's parent makes that parent the merge base: a merge is then a cherry-pick.
    const stand = await commitTree(git, repositoryId, {
      tree: tip.treeSha,
      parents: commit.parents,
      message: 'stand-in\n',
      author: committer.who,
      at: committer.at,
    })
    const tree = await mergedTree(git, repositoryId, stand, commit.sha)
    if (tree === undefined) return undefined
    if (tree === tip.treeSha) continue
    const sha = await commitTree(git, repositoryId, {
      tree,
      parents: [tip.sha],
      message: `${commit.message}\n`,
      author: committer.who,
      written: commit.author,
      at: committer.at,
    })
    tip = await git.commit(repositoryId, sha)
  }
  return tip.sha
}
