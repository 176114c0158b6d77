// The routes that say where a commit stands: the comparison of two commits, and the branches whose newest commit it is. Commits
// of forks can be named as on GitHub, where the repositories of a network share their objects; no branch leads to them.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
import { defined } from '../../../../src/lib/json/defined.ts'
import { type ChangedFile, compareCommits, comparedFiles } from '../../actions/repository/comparison.ts'
import { fullName } from '../../state/github-state.ts'
import { commitView } from '../../views/commit.ts'
import { notFound, ok, RestError } from '../protocol/answer.ts'
import { perPage } from '../protocol/page.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

/** GitHub counts and lists no more commits of a comparison than this on one page. */
const maxCommits = 250

/** OpenAPI `commit-comparison`; the files without their patches, which are optional there. */
async function compare({ context, repository, params, query }: RepositoryCall) {
  const { git, state, links } = context
  const [baseName = '', headName = '', ...more] = (params['basehead'] ?? '').split('...')
  const [base, head] = await Promise.all([git.resolve(repository.id, baseName), git.resolve(repository.id, headName)])
  if (base === undefined || head === undefined || more.length > 0) throw notFound()
  const found = await compareCommits(context, repository, base, head)
  if (found === undefined) throw new RestError(404, `No common ancestor between ${baseName} and ${headName}.`)
  const show = async (sha: string) => commitView(context, repository, await git.commit(repository.id, sha))
  const { common, ahead, behindBy, status } = found
  const size = query.has('per_page') ? perPage(query) : maxCommits
  // GitHub lists files on the first page only.
  const isFirst = Number(query.get('page') ?? 1) <= 1
  const changed = isFirst ? await comparedFiles(context, repository, { from: common, to: head }) : []
  const from = (Math.max(1, Number(query.get('page') ?? 1) || 1) - 1) * size
  const name = fullName(state, repository)
  const url = links.api(`/repos/${name}/compare/${baseName}...${headName}`)
  const page = links.web(`/${name}/compare/${baseName}...${headName}`)
  return ok({
    url,
    html_url: page,
    permalink_url: links.web(`/${name}/compare/${base}...${head}`),
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base_commit: await show(base),
    merge_base_commit: await show(common),
    status,
    ahead_by: ahead.length,
    behind_by: behindBy,
    total_commits: ahead.length,
    commits: ahead
      .toReversed()
      .slice(from, from + size)
      .map(commit => commitView(context, repository, commit)),
    ...(isFirst ? { files: changed.map(file => fileView(file, head, links.web(`/${name}`), links.api(`/repos/${name}`))) } : {}),
  })
}

/** OpenAPI `diff-entry`. */
function fileView({ path, formerPath, status, sha, additions, deletions }: ChangedFile, head: string, web: string, api: string) {
  return {
    sha,
    filename: path,
    status,
    additions,
    deletions,
    changes: additions + deletions,
    blob_url: `${web}/blob/${head}/${path}`,
    raw_url: `${web}/raw/${head}/${path}`,
    contents_url: `${api}/contents/${path}?ref=${head}`,
    ...defined({ previous_filename: formerPath }),
  }
}

/** OpenAPI `branch-short`. */
async function branchesWhereHead({ context, repository, params }: RepositoryCall) {
  const sha = params['commit_sha'] ?? ''
  const known = /^[0-9a-f]{40}$/.test(sha) ? await context.git.resolve(repository.id, sha) : undefined
  if (known === undefined) throw new RestError(422, `No commit found for SHA: ${sha.slice(0, 80)}`)
  const heads = await context.git.refs(repository.id, 'refs/heads/')
  const url = context.links.api(`/repos/${fullName(context.state, repository)}/commits/${sha}`)
  const names = [...heads].filter(([, head]) => head === known).map(([ref]) => ref.slice('refs/heads/'.length))
  return ok(names.map(name => ({ name, commit: { sha, url }, protected: false })))
}

const readContents = { permission: 'contents', level: 'read' } as const
const root = '/repos/{owner}/{repo}'

export const compareRoutes: readonly RestRoute[] = [
  repositoryRoute(readContents, { method: 'GET', path: `${root}/compare/{basehead}`, greedy: true, handle: compare }),
  repositoryRoute(readContents, {
    method: 'GET',
    path: `${root}/commits/{commit_sha}/branches-where-head`,
    handle: branchesWhereHead,
  }),
]
