// Owns: the routes about branches and commits. https://docs.github.com/en/rest/branches/branches
import type { Context } from '../../context.ts'
import { changedFiles, type FileChange } from '../../git/diff.ts'
import type { Repository } from '../../state/repositories.ts'
import { fullName } from '../../state/world.ts'
import { commitView } from '../../views/commit.ts'
import { fileView } from '../../views/file-change.ts'
import { commitInForm } from '../git/media.ts'
import { notFound, ok, RestError } from '../protocol/answer.ts'
import { paged } from '../protocol/page.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

/** Commits that one list may page through. */
const mostCommits = 1000
/** Files that one commit shows. */
const mostFiles = 300

const repositoryUrl = (context: Context, repository: Repository): string =>
  context.links.api(`/repos/${fullName(context.world, repository)}`)

const shortBranch = (call: RepositoryCall, name: string, sha: string) => {
  const url = repositoryUrl(call.context, call.repository)
  return { name, commit: { sha, url: `${url}/commits/${sha}` }, protected: false }
}

const branches = async (call: RepositoryCall) => {
  const refs = await call.context.git.refs(call.repository.id, 'refs/heads/')
  const named = [...refs].map(([ref, sha]) => ({ name: ref.slice('refs/heads/'.length), sha }))
  return paged(call.paging, named, one => shortBranch(call, one.name, one.sha))
}

const branch = async (call: RepositoryCall) => {
  const { context, repository, params } = call
  const name = params['branch'] ?? ''
  const sha = await context.git.resolve(repository.id, `refs/heads/${name}`)
  if (sha === undefined) throw new RestError(404, 'Branch not found')
  const url = `${repositoryUrl(context, repository)}/branches/${name}`
  return ok({
    name,
    commit: commitView(context, repository, await context.git.commit(repository.id, sha)),
    _links: { self: url, html: context.links.web(`/${fullName(context.world, repository)}/tree/${name}`) },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${url}/protection`,
  })
}

/** The commit that `{ref}` names, or GitHub's answer for none. */
export const commitOf = async ({ context, repository, params }: RepositoryCall): Promise<string> => {
  const ref = params['ref'] ?? ''
  const sha = await context.git.resolve(repository.id, ref)
  if (sha === undefined) throw new RestError(422, `No commit found for SHA: ${ref.slice(0, 80)}`)
  return sha
}

const commit = async (call: RepositoryCall) => {
  const { context, repository } = call
  const found = await context.git.commit(repository.id, await commitOf(call))
  const other = await commitInForm(call, found)
  if (other) return other
  const files = await changedFiles(context.git, repository.id, found.parents[0], found.sha)
  const sum = (count: (file: FileChange) => number): number => files.reduce((total, file) => total + count(file), 0)
  const [additions, deletions] = [sum(one => one.additions), sum(one => one.deletions)]
  return ok({
    ...commitView(context, repository, found),
    stats: { additions, deletions, total: additions + deletions },
    files: files.slice(0, mostFiles).map(one => fileView(context, repository, found.sha, one)),
  })
}

/** What narrows a list of commits, as arguments of `git log`. A date that is none is left out, as on GitHub. */
const narrowing = (query: URLSearchParams): { readonly flags: readonly string[]; readonly path: readonly string[] } => {
  const dates = (['since', 'until'] as const).flatMap(name => {
    const at = Date.parse(query.get(name) ?? '')
    return Number.isNaN(at) ? [] : [`--${name}=${new Date(at).toISOString()}`]
  })
  const path = query.get('path') ?? ''
  return { flags: dates, path: path === '' ? [] : ['--', `:(literal)${path}`] }
}

const commits = async (call: RepositoryCall) => {
  const { context, repository, query } = call
  const from = await context.git.resolve(repository.id, query.get('sha') ?? repository.defaultBranch)
  if (from === undefined) throw query.has('sha') ? notFound() : new RestError(409, 'Git Repository is empty.')
  const { flags, path } = narrowing(query)
  const found = await context.git.log(repository.id, [`--max-count=${mostCommits}`, ...flags, from, ...path])
  return paged(call.paging, found, one => commitView(context, repository, one))
}

const readContents = { permission: 'contents', level: 'read' } as const

export const branchRoutes: readonly RestRoute[] = [
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/branches', handle: branches }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}', greedy: true, handle: branch }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits', handle: commits }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}', greedy: true, handle: commit }),
]
