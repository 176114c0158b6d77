// Owns: the pages of folders and files at a branch, tag or commit, the bytes of a file, and the page of a check run.
// Bytes are sent as plain text or a download: what a repository holds never runs as a page of this site.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mayUse } from '../access.ts'
import { Refusal } from '../actions/outcome.ts'
import type { Context } from '../context.ts'
import { entryAt, readBlob, readTree, type TreeEntry } from '../git/objects.ts'
import type { Repository } from '../state/repositories.ts'
import { fullName, repositoryByName } from '../state/world.ts'
import { authenticate } from '../tokens/authenticate.ts'
import { type PageCall, type PageResult, registerPage } from './browser.ts'
import { html } from './html.ts'
import { page, table } from './layout.ts'
import { repositoryOfPage } from './repository.ts'
import { visitorOf } from './session.ts'

type Place = { readonly ref: string; readonly commit: string; readonly path: string }

/** Splits `feature/one/docs/a.txt` where the name of a branch, tag or commit ends. */
const placeOf = async (context: Context, repository: Repository, text: string): Promise<Place | undefined> => {
  const parts = text.split('/')
  for (let length = 1; length <= parts.length; length += 1) {
    const ref = parts.slice(0, length).join('/')
    const commit = await context.git.resolve(repository.id, ref)
    if (commit !== undefined) return { ref, commit, path: parts.slice(length).join('/') }
  }
  return undefined
}

const entryOf = async (context: Context, repository: Repository, place: Place): Promise<TreeEntry | undefined> =>
  place.path === '' ? undefined : entryAt(context.git, repository.id, place.commit, place.path)

const placeOfPage = async (call: PageCall, repository: Repository): Promise<Place> => {
  const place = await placeOf(call.context, repository, call.params['*'] ?? '')
  if (!place) throw new Refusal(404, 'There is no such branch, tag or commit.')
  return place
}

const folder = async (call: PageCall): Promise<PageResult> => {
  const { context, visitor } = call
  const repository = repositoryOfPage(call)
  const place = await placeOfPage(call, repository)
  const entry = await entryOf(context, repository, place)
  if (place.path !== '' && entry?.type !== 'tree') throw new Refusal(404, 'There is no such folder.')
  const name = fullName(context.world, repository)
  const rows = (await readTree(context.git, repository.id, place.commit, { path: place.path })).map(one => {
    const path = place.path === '' ? one.path : `${place.path}/${one.path}`
    const kind = one.type === 'tree' ? 'tree' : 'blob'
    return [html`<a href="/${name}/${kind}/${place.ref}/${path}">${one.path}</a>`, one.size ?? '']
  })
  return page(`${name}: ${place.path || place.ref}`, visitor, table(['Name', 'Bytes'], rows))
}

const file = async (call: PageCall): Promise<PageResult> => {
  const { context, visitor } = call
  const repository = repositoryOfPage(call)
  const place = await placeOfPage(call, repository)
  const entry = await entryOf(context, repository, place)
  if (entry?.type !== 'blob') throw new Refusal(404, 'There is no such file.')
  const content = await readBlob(context.git, repository.id, entry.sha)
  const name = fullName(context.world, repository)
  return page(
    `${name}: ${place.path}`,
    visitor,
    html`<p><a href="/${name}/raw/${place.ref}/${place.path}">Raw</a></p><pre>${content.includes(0) ? 'Binary file.' : content.toString('utf8')}</pre>`,
  )
}

/** Whoever may read the contents, by a token or signed in. */
const raw = async (context: Context, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
  const { owner = '', repository: name = '', '*': rest = '' } = request.params as Record<string, string>
  const authentication = authenticate(context.world, request.headers.authorization, context.now())
  const visitor = visitorOf(context, request)
  const actor =
    visitor && request.headers.authorization === undefined ? ({ kind: 'person', user: visitor.user } as const) : undefined
  const reader = actor ?? (authentication.ok ? authentication.actor : undefined)
  const repository = repositoryByName(context.world, owner, name)
  const allowed = repository && reader && mayUse(context.world, reader, repository, 'contents', 'read')
  const place = allowed ? await placeOf(context, repository, rest) : undefined
  const entry = repository && place ? await entryOf(context, repository, place) : undefined
  void reply.header('x-content-type-options', 'nosniff').header('content-security-policy', "default-src 'none'; sandbox")
  if (!repository || entry?.type !== 'blob') return reply.code(404).type('text/plain; charset=utf-8').send('404: Not Found')
  const content = await readBlob(context.git, repository.id, entry.sha)
  return reply.type(content.includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8').send(content)
}

const checkRun = (call: PageCall): PageResult => {
  const { context, visitor, params } = call
  const repository = repositoryOfPage(call)
  const run = context.world.checkRuns.find(one => one.repositoryId === repository.id && String(one.id) === params['id'])
  if (!run) throw new Refusal(404, 'There is no such check run.')
  const rows = run.annotations.map(one => [`${one.path}:${one.startLine}`, one.level, one.title ?? '', one.message])
  return page(
    run.name,
    visitor,
    html`<p><strong>${run.conclusion ?? run.status}</strong>: ${run.title ?? ''}</p><pre>${run.summary ?? ''}</pre><pre>${run.text ?? ''}</pre>
${rows.length === 0 ? undefined : table(['Where', 'Level', 'Title', 'Says'], rows)}`,
  )
}

export const registerFilePages = (server: FastifyInstance, context: Context): void => {
  registerPage(server, context, 'GET', '/:owner/:repository/tree/*', folder)
  registerPage(server, context, 'GET', '/:owner/:repository/blob/*', file)
  registerPage(server, context, 'GET', '/:owner/:repository/runs/:id', checkRun)
  server.get('/:owner/:repository/raw/*', (request, reply) => raw(context, request, reply))
}
