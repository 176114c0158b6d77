// Owns: the route that compares two commits, also across forks. https://docs.github.com/en/rest/commits/commits#compare-two-commits
import { canSee } from '../../access.ts'
import { branchInNetwork } from '../../actions/network.ts'
import { changedFiles, mergeBase } from '../../git/diff.ts'
import { fullName } from '../../state/world.ts'
import { commitView } from '../../views/commit.ts'
import { fileView } from '../../views/file-change.ts'
import { notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'
import { rangeInForm } from './media.ts'

/** Commits and files that one answer lists. */
const mostCommits = 250
const mostFiles = 300

/** The commit behind `ref` or `owner:ref`; one of a fork is brought here first. */
const commitOf = async (call: RepositoryCall, text: string): Promise<string> => {
  const { context, repository } = call
  const named = branchInNetwork(context, repository, text)
  if (!named || !canSee(context.world, call.actor, named.repository)) throw notFound()
  const sha = await context.git.resolve(named.repository.id, named.branch)
  if (sha === undefined) throw notFound()
  if (named.repository.id !== repository.id) await context.git.borrow(named.repository.id, repository.id, sha)
  return sha
}

const statusOf = (ahead: number, behind: number): string => {
  if (ahead === 0) return behind === 0 ? 'identical' : 'behind'
  return behind === 0 ? 'ahead' : 'diverged'
}

const compare = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, params } = call
  const { git } = context
  const [baseText = '', headText = '', extra] = (params['basehead'] ?? '').split('...')
  if (baseText === '' || headText === '' || extra !== undefined) throw notFound()
  const [base, head] = [await commitOf(call, baseText), await commitOf(call, headText)]
  const common = await mergeBase(git, repository.id, base, head)
  if (common === undefined) throw notFound()
  const other = await rangeInForm(call, { base, common, head })
  if (other) return other
  const count = await git.run(['rev-list', '--left-right', '--count', `${base}...${head}`], { cwd: git.pathOf(repository.id) })
  const [behind = 0, ahead = 0] = count.trim().split(/\s+/).map(Number)
  const [baseCommit, commonCommit, commits, files] = await Promise.all([
    git.commit(repository.id, base),
    git.commit(repository.id, common),
    git.commits(repository.id, base, head, mostCommits),
    changedFiles(git, repository.id, common, head),
  ])
  const name = fullName(context.world, repository)
  const web = context.links.web(`/${name}/compare/${base}...${head}`)
  return ok({
    url: context.links.api(`/repos/${name}/compare/${base}...${head}`),
    html_url: web,
    permalink_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    base_commit: commitView(context, repository, baseCommit),
    merge_base_commit: commitView(context, repository, commonCommit),
    status: statusOf(ahead, behind),
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: [...commits].reverse().map(one => commitView(context, repository, one)),
    files: files.slice(0, mostFiles).map(one => fileView(context, repository, head, one)),
  })
}

export const compareRoutes: readonly RestRoute[] = [
  repositoryRoute(
    { permission: 'contents', level: 'read' },
    { method: 'GET', path: '/repos/{owner}/{repo}/compare/{basehead}', greedy: true, handle: compare },
  ),
]
