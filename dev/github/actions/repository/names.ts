// Names of repositories: which are allowed and free, and to which repository a former name leads. It leads to the repository
// until another one takes it. https://docs.github.com/en/repositories/creating-and-managing-repositories/renaming-a-repository
import type { Account } from '../../state/accounts.ts'
import { accountOf, type GitHubState, repositoryByName } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import type { ActionContext } from '../context.ts'

const validName = /^(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/

function refuse(message: string): Refusal {
  return new Refusal(422, 'Repository creation failed.', [{ resource: 'Repository', field: 'name', code: 'custom', message }])
}

/** Refuses a name that is malformed or taken by another repository of the account. */
export function requireFreeName(context: ActionContext, owner: Account, name: string, self?: Repository): void {
  if (!validName.test(name)) throw refuse('name may have letters, digits, dots, dashes and underscores')
  const holder = repositoryByName(context.state, owner.login, name)
  if (holder && holder !== self) throw refuse('name already exists on this account')
}

/** Removes the former name, because a repository has this name now. */
export function claimName(state: GitHubState, ownerLogin: string, name: string): void {
  const [owner, wanted] = [ownerLogin.toLowerCase(), name.toLowerCase()]
  state.repositoryRedirects = state.repositoryRedirects.filter(one => one.owner !== owner || one.name !== wanted)
}

/** Records the present name as a former name; call it before the name changes. */
export function leaveName(state: GitHubState, repository: Repository): void {
  const owner = accountOf(state, repository.ownerId).login.toLowerCase()
  claimName(state, owner, repository.name)
  state.repositoryRedirects.push({ owner, name: repository.name.toLowerCase(), repositoryId: repository.id })
}
