// The route of git's own view of a commit: tree and parents, without the files of the change.
// https://docs.github.com/en/rest/git/commits
import { gitCommitView } from '../../views/commit.ts'
import { notFound, ok } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

async function show({ context, repository, params }: RepositoryCall) {
  const sha = params['commit_sha'] ?? ''
  const found = /^[0-9a-f]{40}$/.test(sha) ? await context.git.resolve(repository.id, sha) : undefined
  if (found === undefined) throw notFound()
  return ok(gitCommitView(context, repository, await context.git.commit(repository.id, found)))
}

export const gitCommitRoutes: readonly RestRoute[] = [
  repositoryRoute(
    { permission: 'contents', level: 'read' },
    { method: 'GET', path: '/repos/{owner}/{repo}/git/commits/{commit_sha}', handle: show },
  ),
]
