// Owns: the routes about refs, tags and annotated tags. A moved ref is a push: webhooks and pull requests follow it.
// https://docs.github.com/en/rest/git/refs
import { recordPush } from '../../actions/record-push.ts'
import { objectType, readTag } from '../../git/objects.ts'
import { noCommit } from '../../git/ref-update.ts'
import { isSafeRevision } from '../../git/revision.ts'
import { unmoved } from '../../git/store.ts'
import { gitTagView, refView, tagView } from '../../views/git-object.ts'
import { created, noContent, notFound, ok, type RestAnswer, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'

const unprocessable = (message: string): RestError => new RestError(422, message)

const nameOf = ({ params }: RepositoryCall): string => `refs/${params['ref'] ?? ''}`

const shaOf = async ({ context, repository }: RepositoryCall, name: string): Promise<string | undefined> =>
  isSafeRevision(name) ? (await context.git.refs(repository.id, name)).get(name) : undefined

const show = async ({ context, repository }: RepositoryCall, name: string, sha: string) =>
  refView(context, repository, name, sha, (await objectType(context.git, repository.id, sha)) ?? 'commit')

const get = async (call: RepositoryCall): Promise<RestAnswer> => {
  const sha = await shaOf(call, nameOf(call))
  if (sha === undefined) throw notFound()
  return ok(await show(call, nameOf(call), sha))
}

/** Every ref whose name begins with the given text, which need not end at a slash. */
const matching = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository } = call
  const name = nameOf(call)
  const folder = name.slice(0, name.lastIndexOf('/') + 1)
  if (!isSafeRevision(`${name}x`)) return paged(call.paging, [], one => one)
  const found = [...(await context.git.refs(repository.id, folder))].filter(([one]) => one.startsWith(name))
  return paged(call.paging, await Promise.all(found.map(([one, sha]) => show(call, one, sha))), one => one)
}

/** Branches and tags may be written; refs of pull requests and the rest belong to GitHub. */
const requireWritable = (name: string): void => {
  if (!/^refs\/[^/]+\/./.test(name))
    throw unprocessable("Reference name must start with 'refs/' and contain at least two slashes")
  if (!isSafeRevision(name) || !/^refs\/(?:heads|tags)\//.test(name))
    throw unprocessable(`${name.slice(0, 80)} is not a valid ref name.`)
}

/** The commit that a branch would point at; a tag may point at a tag object too. */
const requireObject = async ({ context, repository }: RepositoryCall, name: string, sha: string): Promise<void> => {
  const type = await objectType(context.git, repository.id, sha)
  if (type === undefined) throw unprocessable('Object does not exist')
  if (type !== 'commit' && !(type === 'tag' && name.startsWith('refs/tags/'))) throw unprocessable('Object must be a commit')
}

const move = async (call: RepositoryCall, ref: string, before: string, after: string): Promise<void> => {
  const { context, repository } = call
  const moved = await context.git.moveRef(repository.id, ref, after === noCommit ? undefined : after, before)
  if (moved === unmoved) throw new RestError(409, 'Reference was modified meanwhile. Try again.')
  await recordPush(context, repository, writerOf(call), [{ ref, before, after }])
}

const create = async (call: RepositoryCall): Promise<RestAnswer> => {
  const fields = fieldsOf(call.body, 'Reference')
  const name = fields.text('ref', 255)
  const sha = fields.text('sha', 40)
  requireWritable(name)
  if ((await shaOf(call, name)) !== undefined) throw unprocessable('Reference already exists')
  await requireObject(call, name, sha)
  await move(call, name, noCommit, sha)
  const view = await show(call, name, sha)
  return created(view, { location: view.url })
}

const update = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository } = call
  const fields = fieldsOf(call.body, 'Reference')
  const name = nameOf(call)
  requireWritable(name)
  const before = await shaOf(call, name)
  if (before === undefined) throw unprocessable('Reference does not exist')
  const sha = fields.text('sha', 40)
  await requireObject(call, name, sha)
  const ahead = (await context.git.ask(repository.id, ['merge-base', '--is-ancestor', before, sha])) !== undefined
  if (!ahead && !(fields.optionalBoolean('force') ?? false)) throw unprocessable('Update is not a fast forward')
  await move(call, name, before, sha)
  return ok(await show(call, name, sha))
}

const remove = async (call: RepositoryCall): Promise<RestAnswer> => {
  const name = nameOf(call)
  requireWritable(name)
  const before = await shaOf(call, name)
  if (before === undefined) throw unprocessable('Reference does not exist')
  if (name === `refs/heads/${call.repository.defaultBranch}`) throw unprocessable('Cannot delete the default branch')
  await move(call, name, before, noCommit)
  return noContent
}

const tags = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository } = call
  const names = [...(await context.git.refs(repository.id, 'refs/tags/')).keys()].map(one => one.slice('refs/tags/'.length))
  const found = await Promise.all(
    names.map(async name => ({ name, sha: await context.git.resolve(repository.id, `refs/tags/${name}`) })),
  )
  return paged(
    call.paging,
    found.flatMap(({ name, sha }) => (sha === undefined ? [] : [{ name, sha }])),
    one => tagView(context, repository, one.name, one.sha),
  )
}

const tag = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, params } = call
  const sha = params['tag_sha'] ?? ''
  if ((await objectType(context.git, repository.id, sha)) !== 'tag') throw notFound()
  return ok(gitTagView(context, repository, sha, await readTag(context.git, repository.id, sha)))
}

const reading = { permission: 'contents', level: 'read' } as const
const writing = { permission: 'contents', level: 'write' } as const
const root = '/repos/{owner}/{repo}'

export const refRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: `${root}/git/ref/{ref}`, greedy: true, handle: get }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/git/matching-refs/{ref}`, greedy: true, handle: matching }),
  repositoryRoute(writing, { method: 'POST', path: `${root}/git/refs`, handle: create }),
  repositoryRoute(writing, { method: 'PATCH', path: `${root}/git/refs/{ref}`, greedy: true, handle: update }),
  repositoryRoute(writing, { method: 'DELETE', path: `${root}/git/refs/{ref}`, greedy: true, handle: remove }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/git/tags/{tag_sha}`, handle: tag }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/tags`, handle: tags }),
]
