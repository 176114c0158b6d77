// Commits that somebody pushes, without a client of git: for tests of which the transfer itself is not the subject. It takes a
// tenth of the time of a clone and a push.
import type { RepositoryAction } from '../actions/context.ts'
import { recordPush } from '../actions/record-push.ts'
import { noCommit, type RefUpdate } from '../git/ref-update.ts'

export type CommittedFile = {
  readonly branch: string
  /** Default: page.txt. */
  readonly file?: string
  readonly text: string
  /** The branch or commit on which it is made. Default: the branch itself, and main for a new one. */
  readonly onto?: string
}

/** One commit of the sender with one changed file; the branch is made, or moved to it, whatever it had. Nobody is told. */
export async function addCommit(
  { context: { git, now }, repository, sender }: RepositoryAction,
  { branch, file = 'page.txt', text, onto }: CommittedFile,
): Promise<RefUpdate> {
  const cwd = git.pathOf(repository.id)
  const ref = `refs/heads/${branch}`
  const before = await git.resolve(repository.id, ref)
  const from = await git.resolve(repository.id, onto ?? before ?? 'main')
  if (from === undefined) throw new Error(`there is no ${onto ?? 'main'} for a commit at ${branch}`)
  const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`
  const head = `commit ${ref}\ncommitter ${sender.name} <${sender.email}> ${Math.floor(now() / 1000)} +0000\n${data(text)}`
  await git.run(['fast-import', '--quiet', '--force'], {
    cwd,
    input: `${head}from ${from}\nM 100644 inline ${file}\n${data(text)}`,
  })
  const after = (await git.run(['rev-parse', ref], { cwd })).trim()
  return { ref, before: before ?? noCommit, after }
}

/** The same with what follows a push: webhooks, and the pull requests of the branch. Resolves to the id of the commit. */
export async function pushCommit(action: RepositoryAction, committed: CommittedFile): Promise<string> {
  const update = await addCommit(action, committed)
  await recordPush(action, [update])
  return update.after
}
