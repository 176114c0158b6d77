// The network of forks: which repositories can exchange commits, and to which of them `owner:branch` refers.

import { accountByLogin, type GitHubState, repositoryById } from '../../state/github-state.ts'
import type { Repository } from '../../state/repositories.ts'
import type { ActionContext } from '../context.ts'

/** The id of the network's first repository, or of the earliest one that is still known. */
function rootOf(state: GitHubState, repository: Repository): number {
  let at = repository
  for (let above: Repository | undefined = at; above; ) {
    at = above
    const { parentId }: Repository = at
    // A deleted parent still identifies the network.
    if (parentId !== null && !repositoryById(state, parentId)) return parentId
    above = parentId === null ? undefined : repositoryById(state, parentId)
  }
  return at.id
}

type NamedBranch = { readonly repository: Repository; readonly branch: string }

/** The branch to which `branch`, `owner:branch` or `owner:repository:branch` refers; `undefined` outside of the network. */
export function branchInNetwork(
  { state }: Pick<ActionContext, 'state'>,
  repository: Repository,
  text: string,
): NamedBranch | undefined {
  const parts = text.split(':')
  const branch = parts.at(-1) ?? ''
  if (parts.length === 1) return { repository, branch }
  const owner = accountByLogin(state, parts[0] ?? '')
  if (!owner || parts.length > 3) return undefined
  if (owner.id === repository.ownerId && parts.length === 2) return { repository, branch }
  const root = rootOf(state, repository)
  const name = parts.length === 3 ? parts[1]?.toLowerCase() : undefined
  const found = state.repositories.find(
    one => one.ownerId === owner.id && rootOf(state, one) === root && (name === undefined || one.name.toLowerCase() === name),
  )
  return found && { repository: found, branch }
}
