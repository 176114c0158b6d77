// Git over HTTP: who may fetch from or push to which repository, and the refusals that a git client shows. git's own
// http-backend does the transfer; it never receives the credential. https://git-scm.com/docs/http-protocol ;
// https://docs.github.com/en/get-started/git-basics/about-remote-repositories
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { defined } from '../../../src/lib/json/defined.ts'
import type { ActionContext } from '../actions/context.ts'
import { recordPush } from '../actions/record-push.ts'
import { parseRefUpdates } from '../git/ref-update.ts'
import { type Actor, actingUserId, canSee, mayUse } from '../state/access.ts'
import type { User } from '../state/accounts.ts'
import { fullName, repositoryByFormerName, repositoryByName, userOf } from '../state/github-state.ts'
import type { Repository } from '../state/repositories.ts'
import { authenticate } from '../tokens/authenticate.ts'
import { runHttpBackend } from './http-backend.ts'

/** What serving git needs in addition to the actions. */
export type GitHttpContext = ActionContext & {
  /** Reports defects of the emulator itself, which no response can explain. */
  readonly report: (message: string) => void
}

type Service = 'fetch' | 'push'
type Denied = { readonly allowed: false; readonly status: 401 | 403 | 404; readonly message: string }
type Access = { readonly allowed: true; readonly repository: Repository; readonly actor: Actor } | Denied

function denied(status: Denied['status'], message: string): Denied {
  return { allowed: false, status, message }
}

const unauthorized = denied(401, 'Invalid username or token. Password authentication is not supported.')

type GitRequest = {
  readonly authorization: string | undefined
  readonly owner: string
  readonly name: string
  readonly service: Service
}

/**
 * Decides about one git request. An actor who cannot see the repository gets a request for credentials, or the answer that it
 * does not exist.
 */
function decide(context: GitHttpContext, { authorization, owner, name, service }: GitRequest): Access {
  const { state } = context
  const authentication = authenticate(state, authorization, context.now())
  if (!authentication.ok) return authentication.status === 403 ? denied(403, authentication.message) : unauthorized
  const { actor } = authentication
  if (actor.kind === 'app') return unauthorized
  const repository = repositoryByName(state, owner, name) ?? repositoryByFormerName(state, owner, name)
  if (!repository || !canSee(state, actor, repository)) {
    return actor.kind === 'anonymous' ? unauthorized : denied(404, 'Repository not found.')
  }
  const level = service === 'push' ? 'write' : 'read'
  if (!mayUse(state, actor, repository, { permission: 'contents', level }))
    return refusalFor(actor, `${owner}/${repository.name}`, service)
  if (service === 'push' && repository.archived) return denied(403, 'This repository was archived so it is read-only.')
  return { allowed: true, repository, actor }
}

/** The refusal for an actor who sees the repository but does not have the permission. */
function refusalFor(actor: Exclude<Actor, { kind: 'app' }>, fullName: string, service: Service): Denied {
  if (actor.kind === 'anonymous') return unauthorized
  if (service === 'fetch') return denied(403, 'Read access to repository not granted')
  const who = actor.kind === 'installation' ? `${actor.app.slug}[bot]` : actor.user.login
  return denied(403, `Permission to ${fullName}.git denied to ${who}.`)
}

function refuse(reply: FastifyReply, access: Denied): FastifyReply {
  if (access.status === 401) void reply.header('www-authenticate', 'Basic realm="GitHub"')
  return reply.code(access.status).type('text/plain; charset=utf-8').send(`${access.message}\n`)
}

/** What the hook wrote; nothing when git refused every ref. */
async function readReport(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

type Transfer = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly repository: Repository
  /** `/info/refs`, `/git-upload-pack` or `/git-receive-pack`. */
  readonly path: string
  readonly sender: User | undefined
}

/** Runs git's backend. A push is recorded before its response ends, so that the client finds all its consequences. */
async function runTransfer(context: GitHttpContext, { request, reply, repository, path, sender }: Transfer): Promise<void> {
  const pusher = path === '/git-receive-pack' ? sender : undefined
  const folder = pusher && (await mkdtemp(join(tmpdir(), 'github-push-')))
  const pushReport = folder && join(folder, 'updates')
  const query = request.url.indexOf('?')
  reply.hijack()
  try {
    await runHttpBackend({
      git: context.git,
      repositoryId: repository.id,
      path,
      query: query < 0 ? '' : request.url.slice(query + 1),
      request: request.raw,
      response: reply.raw,
      remoteUser: sender?.login ?? '',
      beforeEnd: async () => {
        if (!pusher || pushReport === undefined) return
        await recordPush({ context, repository, sender: pusher }, parseRefUpdates(await readReport(pushReport)))
        await context.store.durable()
      },
      ...defined({ pushReport }),
    })
  } catch (error) {
    // The response has started and the backend has cut it off: the reason can only be reported.
    context.report(`git ${path} of repository ${repository.id} failed: ${error instanceof Error ? error.stack : 'unknown error'}`)
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

type Exchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly path: string
  readonly service: Service
}

async function serve(context: GitHttpContext, { request, reply, path, service }: Exchange): Promise<FastifyReply> {
  const { owner, repository: asked } = request.params as { owner: string; repository: string }
  const name = asked.replace(/\.git$/, '')
  const access = decide(context, { authorization: request.headers.authorization, owner, name, service })
  if (!access.allowed) return refuse(reply, access)
  const { repository, actor } = access
  const present = fullName(context.state, repository)
  // A request for a former name is redirected; git tells its user and continues with the present name.
  if (path === '/info/refs' && `${owner}/${name}`.toLowerCase() !== present.toLowerCase()) {
    return reply.redirect(context.links.web(`/${present}.git${path}?${request.url.split('?')[1] ?? ''}`), 301)
  }
  const senderId = actingUserId(actor)
  const sender = senderId === undefined ? undefined : userOf(context.state, senderId)
  await runTransfer(context, { request, reply, repository, path, sender })
  return reply
}

/** Registers the three paths of the smart protocol; the dumb protocol is not supported. */
export function registerGitRoutes(server: FastifyInstance, context: GitHttpContext): void {
  for (const type of ['application/x-git-upload-pack-request', 'application/x-git-receive-pack-request']) {
    server.addContentTypeParser(type, (_request, payload, done) => done(null, payload))
  }
  server.get('/:owner/:repository/info/refs', (request, reply) => {
    const asked = new URLSearchParams(request.url.split('?')[1] ?? '').get('service')
    const service = asked === 'git-receive-pack' ? 'push' : 'fetch'
    if (asked === 'git-upload-pack' || service === 'push') return serve(context, { request, reply, path: '/info/refs', service })
    return reply.code(403).type('text/plain').send('Please upgrade your git client.\n')
  })
  server.post('/:owner/:repository/git-upload-pack', (request, reply) =>
    serve(context, { request, reply, path: '/git-upload-pack', service: 'fetch' }),
  )
  server.post('/:owner/:repository/git-receive-pack', (request, reply) =>
    serve(context, { request, reply, path: '/git-receive-pack', service: 'push' }),
  )
}
