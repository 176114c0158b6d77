// The routes about branches and commits. https://docs.github.com/en/rest/branches/branches

import { renameBranch } from '../../actions/repository/rename-branch.ts'
import { mayUse } from '../../state/access.ts'
import { fullName } from '../../state/github-state.ts'
import type { Repository } from '../../state/repositories.ts'
import { commitView } from '../../views/commit.ts'
import type { RestContext } from '../context.ts'
import { created, moved, notAccessible, notFound, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

function repositoryUrl(context: RestContext, repository: Repository): string {
  return context.links.api(`/repos/${fullName(context.state, repository)}`)
}

async function branch(call: RepositoryCall) {
  const { context, repository, params } = call
  const name = params['branch'] ?? ''
  const sha = await context.git.resolve(repository.id, `refs/heads/${name}`)
  const renamed = repository.formerBranches?.[name]
  if (sha === undefined && renamed !== undefined)
    throw moved(301, context.links.api(`/repositories/${repository.id}/branches/${encodeURIComponent(renamed)}`))
  if (sha === undefined) throw new RestError(404, 'Branch not found')
  return ok(await branchView(call, name, sha))
}

async function branchView({ context, repository }: RepositoryCall, name: string, sha: string) {
  const url = `${repositoryUrl(context, repository)}/branches/${name}`
  return {
    name,
    commit: commitView(context, repository, await context.git.commit(repository.id, sha)),
    _links: { self: url, html: context.links.web(`/${fullName(context.state, repository)}/tree/${name}`) },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${url}/protection`,
  }
}

/** The name of the default branch is a setting of the repository. */
async function rename(call: RepositoryCall) {
  const { context, repository, params, actor } = call
  const from = params['branch'] ?? ''
  const isDefault = from === repository.defaultBranch
  const needed = { permission: 'administration', level: 'write' } as const
  if (isDefault && !mayUse(context.state, actor, repository, needed)) throw notAccessible()
  const to = fieldsOf(call.body, 'Branch').text('new_name', 255)
  await renameBranch(actionOf(call), from, to)
  const sha = await context.git.resolve(repository.id, `refs/heads/${to}`)
  if (sha === undefined) throw notFound()
  return created(await branchView(call, to, sha))
}

/** The commit that `{ref}` names, or GitHub's error for none. */
export async function commitOf({ context, repository, params }: RepositoryCall): Promise<string> {
  const ref = params['ref'] ?? ''
  const sha = await context.git.resolve(repository.id, ref)
  if (sha === undefined) throw new RestError(422, `No commit found for SHA: ${ref.slice(0, 80)}`)
  return sha
}

async function commit(call: RepositoryCall) {
  const { context, repository } = call
  return ok(commitView(context, repository, await context.git.commit(repository.id, await commitOf(call))))
}

const readContents = { permission: 'contents', level: 'read' } as const

export const branchRoutes: readonly RestRoute[] = [
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}', greedy: true, handle: branch }),
  repositoryRoute(
    { permission: 'contents', level: 'write' },
    { method: 'POST', path: '/repos/{owner}/{repo}/branches/{branch}/rename', handle: rename },
  ),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}', greedy: true, handle: commit }),
]
