// Owns: the routes about files and folders: shown, written and removed, each change one commit on a branch.
// https://docs.github.com/en/rest/repos/contents
import { recordPush } from '../../actions/record-push.ts'
import { editFile, entryAt, readBlob, readTree, type TreeEntry } from '../../git/objects.ts'
import { noCommit } from '../../git/ref-update.ts'
import { unmoved } from '../../git/store.ts'
import type { Author } from '../../git/write.ts'
import { contentEntry, contentFile, fileCommitView } from '../../views/git-object.ts'
import { created, invalidField, notFound, ok, type RestAnswer, RestError } from '../protocol/answer.ts'
import { type Fields, fieldsOf } from '../protocol/body.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'
import { fileInForm } from './media.ts'

/** The path without outer slashes; one that leaves the repository or enters `.git` names nothing. */
const pathOf = ({ params }: RepositoryCall): string => {
  const path = (params['path'] ?? '').replace(/^\/+|\/+$/g, '')
  const parts = path.split('/')
  const wrong = parts.some(one => one === '.' || one === '..' || one.toLowerCase() === '.git') || path.includes('//')
  if (path.length > 4096 || path.includes('\0') || (path !== '' && wrong)) throw notFound()
  return path
}

const commitAt = async ({ context, repository }: RepositoryCall, ref: string): Promise<string> => {
  const sha = await context.git.resolve(repository.id, ref)
  if (sha === undefined) throw new RestError(404, `No commit found for the ref ${ref.slice(0, 80)}`)
  return sha
}

const folder = async (call: RepositoryCall, ref: string, commit: string, path: string): Promise<RestAnswer> => {
  const { context, repository } = call
  const inside = await readTree(context.git, repository.id, commit, { path })
  const prefix = path === '' ? '' : `${path}/`
  return ok(inside.map(one => contentEntry(context, repository, ref, { ...one, path: `${prefix}${one.path}` })))
}

const file = async (call: RepositoryCall, ref: string, entry: TreeEntry): Promise<RestAnswer> => {
  const { context, repository } = call
  if (entry.type === 'commit') return ok({ ...contentEntry(context, repository, ref, entry), submodule_git_url: null })
  const read = (): Promise<Buffer> => readBlob(context.git, repository.id, entry.sha)
  return (await fileInForm(call, read)) ?? ok(contentFile(context, repository, ref, entry, await read()))
}

const get = async (call: RepositoryCall): Promise<RestAnswer> => {
  const ref = call.query.get('ref') ?? call.repository.defaultBranch
  const commit = await commitAt(call, ref)
  const path = pathOf(call)
  if (path === '') return folder(call, ref, commit, path)
  const entry = await entryAt(call.context.git, call.repository.id, commit, path)
  if (!entry) throw notFound()
  return entry.type === 'tree' ? folder(call, ref, commit, path) : file(call, ref, entry)
}

const readme = async (call: RepositoryCall): Promise<RestAnswer> => {
  const ref = call.query.get('ref') ?? call.repository.defaultBranch
  const entries = await readTree(call.context.git, call.repository.id, await commitAt(call, ref))
  const found = entries.find(one => one.type === 'blob' && /^readme(?:\.[a-z]+)?$/i.test(one.path))
  if (!found) throw notFound()
  return file(call, ref, found)
}

const authorOf = (call: RepositoryCall, fields: Fields): Author => {
  const given = fields.optionalRecord('author') ?? fields.optionalRecord('committer')
  const [name, email] = [given?.['name'], given?.['email']]
  const printable = (text: unknown): text is string => typeof text === 'string' && /^[^<>\n\0]{1,200}$/.test(text)
  return printable(name) && printable(email) ? { name, email } : writerOf(call)
}

/** GitHub wants to be told which blob a change replaces, so that nobody overwrites what they have not seen. */
const requireSeen = (current: TreeEntry | undefined, given: string | undefined): void => {
  if (current && given === undefined) throw new RestError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
  if (current && given !== current.sha) throw new RestError(409, `${current.path} does not match ${String(given).slice(0, 40)}`)
}

type Edit = { readonly answer: ReturnType<typeof fileCommitView>; readonly existed: boolean }

const edit = async (call: RepositoryCall, fields: Fields, content: Buffer | undefined): Promise<Edit> => {
  const { context, repository } = call
  const { git } = context
  const path = pathOf(call)
  if (path === '') throw invalidField('Commit', 'path', 'invalid')
  const branch = fields.optionalText('branch', 255) ?? repository.defaultBranch
  const head = await git.resolve(repository.id, `refs/heads/${branch}`)
  const empty = (await git.refs(repository.id, 'refs/heads/')).size === 0
  if (head === undefined && !(empty && branch === repository.defaultBranch))
    throw new RestError(404, `Branch ${branch.slice(0, 80)} not found`)
  const current = head === undefined ? undefined : await entryAt(git, repository.id, head, path)
  if (current?.type === 'tree') throw invalidField('Commit', 'path', 'invalid')
  if (content === undefined && !current) throw notFound()
  requireSeen(current, fields.optionalText('sha', 40))
  const message = fields.text('message', 65_536)
  const change = { path, content, message, author: authorOf(call, fields), at: context.now() }
  const result = await editFile(git, repository.id, branch, change)
  if (result === unmoved) throw new RestError(409, `${branch} was updated meanwhile. Try again.`)
  const { before = noCommit, after } = result
  await recordPush(context, repository, writerOf(call), [{ ref: `refs/heads/${branch}`, before, after }])
  const entry = content === undefined ? undefined : await entryAt(git, repository.id, after, path)
  const answer = fileCommitView(context, repository, branch, entry, await git.commit(repository.id, after))
  return { answer, existed: current !== undefined }
}

const put = async (call: RepositoryCall): Promise<RestAnswer> => {
  const fields = fieldsOf(call.body, 'Commit')
  const text = fields.optionalText('content', 1024 * 1024)
  if (text === undefined) throw invalidField('Commit', 'content', 'missing_field')
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text)) throw new RestError(422, 'content is not valid Base64')
  const { answer, existed } = await edit(call, fields, Buffer.from(text, 'base64'))
  return existed ? ok(answer) : created(answer)
}

/** The fields come in the body or in the query: clients differ about bodies of DELETE. */
const remove = async (call: RepositoryCall): Promise<RestAnswer> => {
  const body = call.body ?? Object.fromEntries(call.query)
  return ok((await edit(call, fieldsOf(body, 'Commit'), undefined)).answer)
}

const reading = { permission: 'contents', level: 'read' } as const
const writing = { permission: 'contents', level: 'write' } as const
const root = '/repos/{owner}/{repo}'

export const contentRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: `${root}/contents/{path}`, greedy: true, handle: get }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/contents`, describedAs: `${root}/contents/{path}`, handle: get }),
  repositoryRoute(writing, { method: 'PUT', path: `${root}/contents/{path}`, greedy: true, handle: put }),
  repositoryRoute(writing, { method: 'DELETE', path: `${root}/contents/{path}`, greedy: true, handle: remove }),
  repositoryRoute(reading, { method: 'GET', path: `${root}/readme`, handle: readme }),
]
