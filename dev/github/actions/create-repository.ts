// Owns: making a repository in the world and on disk. The caller has checked who may.
import { timestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import { commitFiles } from '../git/write.ts'
import type { Account, User } from '../state/accounts.ts'
import type { Repository } from '../state/repositories.ts'
import { nextId, repositoryByName } from '../state/world.ts'
import { eventFrame } from '../views/event-frame.ts'
import { Refusal } from './outcome.ts'

export type NewRepository = {
  readonly name: string
  readonly description: string | null
  readonly private: boolean
  /** Start with a README; else the repository is empty. */
  readonly withReadme: boolean
}

const validName = /^(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/
const refuse = (code: string, message: string): Refusal =>
  new Refusal(422, 'Repository creation failed.', [{ resource: 'Repository', field: 'name', code, message }])

/** Creates the repository and tells the Apps that reach it. */
export const createRepository = async (
  context: Context,
  owner: Account,
  creator: User,
  wanted: NewRepository,
): Promise<Repository> => {
  if (!validName.test(wanted.name)) throw refuse('custom', 'name may have letters, digits, dots, dashes and underscores')
  if (repositoryByName(context.world, owner.login, wanted.name)) throw refuse('custom', 'name already exists on this account')
  const at = timestamp(context.now())
  const repository: Repository = {
    id: context.store.change(nextId),
    ownerId: owner.id,
    name: wanted.name,
    description: wanted.description,
    private: wanted.private,
    archived: false,
    defaultBranch: 'main',
    collaborators: [],
    createdAt: at,
    updatedAt: at,
    pushedAt: at,
    lastNumber: 0,
  }
  await context.git.create(repository.id, repository.defaultBranch)
  if (wanted.withReadme) {
    const commit = { message: 'Initial commit\n', author: creator, at: context.now() }
    await commitFiles(context.git, repository.id, repository.defaultBranch, { 'README.md': `# ${wanted.name}\n` }, commit)
  }
  // Another request may have taken the name while git was working.
  if (repositoryByName(context.world, owner.login, wanted.name)) throw refuse('custom', 'name already exists on this account')
  context.store.change(world => world.repositories.push(repository))
  const payload = eventFrame(context, repository, creator)
  context.webhooks.emit({ name: 'repository', action: 'created', accountId: owner.id, repositoryId: repository.id, payload })
  return repository
}
