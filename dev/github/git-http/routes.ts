// Owns: git over HTTP: who may fetch or push which repository, and the refusal texts that a git client shows. The transfer itself is
// git's own http-backend. Never passes a credential on.
// https://git-scm.com/docs/http-protocol ; https://docs.github.com/en/get-started/git-basics/about-remote-repositories
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { recordPush } from '../actions/record-push.ts'
import { parseRefUpdates } from '../git/ref-update.ts'
import { type Actor, actingUserId, canSee, mayUse } from '../state/access.ts'
import type { Repository } from '../state/repositories.ts'
import { fullName, repositoryByFormerName, repositoryByName, userOf } from '../state/world.ts'
import { authenticate } from '../tokens/authenticate.ts'
import { runHttpBackend } from './http-backend.ts'

/** What serving git needs beyond the actions. */
export type GitHttpContext = ActionContext & {
  /** Reports defects of the emulator itself, which no answer can explain. */
  readonly report: (message: string) => void
}

type Access =
  | { readonly allowed: true; readonly repository: Repository; readonly actor: Actor }
  | { readonly allowed: false; readonly status: 401 | 403 | 404; readonly message: string }

const unauthorized: Access = {
  allowed: false,
  status: 401,
  message: 'Invalid username or token. Password authentication is not supported.',
}

/** Decides about one git request. Who cannot see the repository is asked for credentials, or told that it does not exist. */
function decide(
  context: GitHttpContext,
  header: string | undefined,
  owner: string,
  name: string,
  service: 'fetch' | 'push',
): Access {
  const { world } = context
  const authentication = authenticate(world, header, context.now())
  if (!authentication.ok) {
    return authentication.status === 403 ? { allowed: false, status: 403, message: authentication.message } : unauthorized
  }
  const { actor } = authentication
  if (actor.kind === 'app') return unauthorized
  const bare = name.replace(/\.git$/, '')
  const repository = repositoryByName(world, owner, bare) ?? repositoryByFormerName(world, owner, bare)
  if (!repository || !canSee(world, actor, repository)) {
    return actor.kind === 'anonymous' ? unauthorized : { allowed: false, status: 404, message: 'Repository not found.' }
  }
  if (mayUse(world, actor, repository, 'contents', service === 'push' ? 'write' : 'read')) {
    if (service === 'push' && repository.archived) {
      return { allowed: false, status: 403, message: 'This repository was archived so it is read-only.' }
    }
    return { allowed: true, repository, actor }
  }
  if (actor.kind === 'anonymous') return unauthorized
  const who = actor.kind === 'installation' ? `${actor.app.slug}[bot]` : actor.user.login
  if (service === 'push')
    return { allowed: false, status: 403, message: `Permission to ${owner}/${repository.name}.git denied to ${who}.` }
  return { allowed: false, status: 403, message: 'Read access to repository not granted' }
}

function refuse(reply: FastifyReply, access: Extract<Access, { allowed: false }>): FastifyReply {
  if (access.status === 401) void reply.header('www-authenticate', 'Basic realm="GitHub"')
  return reply.code(access.status).type('text/plain; charset=utf-8').send(`${access.message}\n`)
}

/** What the hook wrote; it wrote nothing when git refused every ref. */
async function readReport(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

type Target = { owner: string; repository: string }

async function transfer(
  context: GitHttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  service: 'fetch' | 'push',
) {
  const { owner, repository: name } = request.params as Target
  const access = decide(context, request.headers.authorization, owner, name, service)
  if (!access.allowed) return refuse(reply, access)
  const { repository, actor } = access
  const present = fullName(context.world, repository)
  // The client learns the present name where it begins, says so to its user, and goes on there.
  if (path === '/info/refs' && `${owner}/${name.replace(/\.git$/, '')}`.toLowerCase() !== present.toLowerCase()) {
    return reply.redirect(context.links.web(`/${present}.git${path}?${request.url.split('?')[1] ?? ''}`), 301)
  }
  const pusherId = actingUserId(actor)
  const isPush = path === '/git-receive-pack' && pusherId !== undefined
  const folder = isPush ? await mkdtemp(join(tmpdir(), 'github-push-')) : undefined
  const pushReport = folder === undefined ? undefined : join(folder, 'updates')
  const query = request.url.indexOf('?')
  const follow = async (): Promise<void> => {
    if (pushReport === undefined || pusherId === undefined) return
    await recordPush(context, repository, userOf(context.world, pusherId), parseRefUpdates(await readReport(pushReport)))
    await context.store.durable()
  }
  reply.hijack()
  try {
    await runHttpBackend({
      git: context.git,
      repositoryId: repository.id,
      path,
      query: query < 0 ? '' : request.url.slice(query + 1),
      request: request.raw,
      response: reply.raw,
      remoteUser: pusherId === undefined ? '' : userOf(context.world, pusherId).login,
      beforeEnd: follow,
      ...(pushReport === undefined ? {} : { pushReport }),
    })
  } catch (error) {
    // The answer is under way: all that is left is to cut it off, which was done, and to say why.
    context.report(`git ${path} of repository ${repository.id} failed: ${error instanceof Error ? error.stack : 'unknown error'}`)
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
  return reply
}

/** Registers the three addresses of the smart protocol; the dumb protocol is not spoken. */
export function registerGitRoutes(server: FastifyInstance, context: GitHttpContext): void {
  for (const type of ['application/x-git-upload-pack-request', 'application/x-git-receive-pack-request']) {
    server.addContentTypeParser(type, (_request, payload, done) => done(null, payload))
  }
  server.get('/:owner/:repository/info/refs', (request, reply) => {
    const service = new URLSearchParams(request.url.split('?')[1] ?? '').get('service')
    if (service === 'git-upload-pack') return transfer(context, request, reply, '/info/refs', 'fetch')
    if (service === 'git-receive-pack') return transfer(context, request, reply, '/info/refs', 'push')
    return reply.code(403).type('text/plain').send('Please upgrade your git client.\n')
  })
  server.post('/:owner/:repository/git-upload-pack', (request, reply) =>
    transfer(context, request, reply, '/git-upload-pack', 'fetch'),
  )
  server.post('/:owner/:repository/git-receive-pack', (request, reply) =>
    transfer(context, request, reply, '/git-receive-pack', 'push'),
  )
}
