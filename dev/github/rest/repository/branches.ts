// The routes about branches and commits. https://docs.github.com/en/rest/branches/branches

import { fullName } from '../../state/github-state.ts'
import type { Repository } from '../../state/repositories.ts'
import { commitView } from '../../views/commit.ts'
import type { RestContext } from '../context.ts'
import { ok, RestError } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

function repositoryUrl(context: RestContext, repository: Repository): string {
  return context.links.api(`/repos/${fullName(context.state, repository)}`)
}

async function branch(call: RepositoryCall) {
  const { context, repository, params } = call
  const name = params['branch'] ?? ''
  const sha = await context.git.resolve(repository.id, `refs/heads/${name}`)
  if (sha === undefined) throw new RestError(404, 'Branch not found')
  const url = `${repositoryUrl(context, repository)}/branches/${name}`
  return ok({
    name,
    commit: commitView(context, repository, await context.git.commit(repository.id, sha)),
    _links: { self: url, html: context.links.web(`/${fullName(context.state, repository)}/tree/${name}`) },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${url}/protection`,
  })
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
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}', greedy: true, handle: commit }),
]
