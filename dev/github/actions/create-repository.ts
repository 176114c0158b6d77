// Creating a repository in the state and on disk. The caller has checked the permissions.
import { commitFiles } from '../git/write.ts'
import type { Account, User } from '../state/accounts.ts'
import { timestamp } from '../state/clock.ts'
import { nextId } from '../state/github-state.ts'
import { newRepository, type Repository } from '../state/repositories.ts'
import type { ActionContext } from './context.ts'
import { emitRepository } from './repository/event.ts'
import { claimName, requireFreeName } from './repository/names.ts'

export type NewRepository = {
  readonly name: string
  readonly description: string | null
  readonly private: boolean
  /** Start with a README of its name and description; otherwise the repository is empty. */
  readonly withReadme: boolean
}

/** Creates the repository and notifies the Apps that can access it. */
export async function createRepository(
  context: ActionContext,
  owner: Account,
  creator: User,
  wanted: NewRepository,
): Promise<Repository> {
  requireFreeName(context, owner, wanted.name)
  const { name, description } = wanted
  const [id, createdAt] = [context.store.change(nextId), timestamp(context.now())]
  const repository = newRepository({ id, ownerId: owner.id, name, description, private: wanted.private, createdAt })
  await context.git.create(repository.id, repository.defaultBranch)
  if (wanted.withReadme) {
    const files = { 'README.md': `# ${wanted.name}\n${description === null ? '' : `${description}\n`}` }
    const commit = { branch: repository.defaultBranch, files, message: 'Initial commit\n', author: creator, at: context.now() }
    await commitFiles(context.git, repository.id, commit)
  }
  // A concurrent request may have taken the name while git was working.
  requireFreeName(context, owner, wanted.name)
  // Who makes a repository of an organization administers it.
  if (owner.kind === 'organization') repository.collaborators.push({ userId: creator.id, role: 'admin' })
  context.store.change(state => {
    state.repositories.push(repository)
    claimName(state, owner.login, wanted.name)
  })
  emitRepository({ context, repository, sender: creator }, 'created')
  return repository
}
