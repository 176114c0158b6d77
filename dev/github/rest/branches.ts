// Owns: the routes about branches, commits and refs. https://docs.github.com/en/rest/branches/branches
import type { Context } from '../context.ts'
import { nodeId } from '../links.ts'
import type { Repository } from '../state/repositories.ts'
import { fullName } from '../state/world.ts'
import { commitView } from '../views/commit.ts'
import { notFound, ok, RestError } from './answer.ts'
import { paged } from './page.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from './route.ts'

/** Commits that one list may page through. */
const mostCommits = 1000

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
  const changed = await context.git.run(['diff-tree', '--root', '-r', '--numstat', '--no-commit-id', found.sha], {
    cwd: context.git.pathOf(repository.id),
  })
  const rows = changed
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split('\t'))
  const sum = (column: number): number => rows.reduce((total, row) => total + (Number.parseInt(row[column] ?? '', 10) || 0), 0)
  const [additions, deletions] = [sum(0), sum(1)]
  return ok({ ...commitView(context, repository, found), stats: { additions, deletions, total: additions + deletions } })
}

const commits = async (call: RepositoryCall) => {
  const { context, repository, query } = call
  const from = await context.git.resolve(repository.id, query.get('sha') ?? repository.defaultBranch)
  if (from === undefined) throw query.has('sha') ? notFound() : new RestError(409, 'Git Repository is empty.')
  const found = await context.git.commits(repository.id, undefined, from, mostCommits)
  return paged(call.paging, found, one => commitView(context, repository, one))
}

const ref = async (call: RepositoryCall) => {
  const { context, repository, params } = call
  const name = `refs/${params['ref'] ?? ''}`
  const sha = (await context.git.refs(repository.id, name)).get(name)
  if (sha === undefined) throw notFound()
  const type = (await context.git.run(['cat-file', '-t', sha], { cwd: context.git.pathOf(repository.id) })).trim()
  const url = repositoryUrl(context, repository)
  return ok({
    ref: name,
    node_id: nodeId('Ref', `${repository.id}:${name}`),
    url: `${url}/git/${name}`,
    object: { sha, type, url: `${url}/git/${type}s/${sha}` },
  })
}

const readContents = { permission: 'contents', level: 'read' } as const

export const branchRoutes: readonly RestRoute[] = [
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/branches', handle: branches }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}', greedy: true, handle: branch }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits', handle: commits }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}', handle: commit }),
  repositoryRoute(readContents, { method: 'GET', path: '/repos/{owner}/{repo}/git/ref/{ref}', greedy: true, handle: ref }),
]
