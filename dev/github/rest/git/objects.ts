// Owns: the routes that show git objects as they are: commits, trees, blobs. https://docs.github.com/en/rest/git/trees
import { objectType, readBlob, readTree } from '../../git/objects.ts'
import { blobView, gitCommitView, treeView } from '../../views/git-object.ts'
import { notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'
import { fileInForm } from './media.ts'

/** A recursive list is cut here. https://docs.github.com/en/rest/git/trees#get-a-tree */
const mostEntries = 100_000

const commit = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, params } = call
  const sha = params['commit_sha'] ?? ''
  if ((await objectType(context.git, repository.id, sha)) !== 'commit') throw notFound()
  return ok(gitCommitView(context, repository, await context.git.commit(repository.id, sha)))
}

/** By the id of a tree, or by anything that names a commit. */
const tree = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, params, query } = call
  const asked = params['tree_sha'] ?? ''
  const type = await objectType(context.git, repository.id, asked)
  const commitSha = type === 'tree' ? undefined : await context.git.resolve(repository.id, asked)
  const sha = type === 'tree' ? asked : commitSha && (await context.git.commit(repository.id, commitSha)).treeSha
  if (sha === undefined) throw notFound()
  // Any value switches recursion on, also `0` and `false`.
  const entries = await readTree(context.git, repository.id, sha, { recursive: query.has('recursive') })
  return ok(treeView(context, repository, sha, entries.slice(0, mostEntries), entries.length > mostEntries))
}

const blob = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, params } = call
  const sha = params['file_sha'] ?? ''
  if ((await objectType(context.git, repository.id, sha)) !== 'blob') throw notFound()
  const read = (): Promise<Buffer> => readBlob(context.git, repository.id, sha)
  return (await fileInForm(call, read)) ?? ok(blobView(context, repository, sha, await read()))
}

const reading = { permission: 'contents', level: 'read' } as const
const root = '/repos/{owner}/{repo}/git'

export const gitObjectRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: `${root}/commits/{commit_sha}`, handle: commit }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/trees/{tree_sha}`, greedy: true, handle: tree }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/blobs/{file_sha}`, handle: blob }),
]
