// The download of archives, which `git archive` writes as they are sent, for the ticket in a redirect.
// It never reads a credential.
import { spawn } from 'node:child_process'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { accountOf, repositoryById } from '../state/github-state.ts'
import { credentialKey } from '../tokens/formats.ts'

const formats: Readonly<Record<string, { readonly format: string; readonly ending: string; readonly type: string }>> = {
  'legacy.tar.gz': { format: 'tar.gz', ending: 'tar.gz', type: 'application/x-gzip' },
  'legacy.zip': { format: 'zip', ending: 'zip', type: 'application/zip' },
}

const longestRun = 120_000

type Target = { readonly format: string; readonly sha: string }

async function send(context: ActionContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { format, sha } = request.params as Target
  const form = formats[format]
  const secret = new URLSearchParams(request.url.split('?')[1] ?? '').get('token') ?? ''
  const ticket = context.state.credentials.archiveTickets[credentialKey(secret)]
  const repository = ticket && ticket.expiresAt > context.now() ? repositoryById(context.state, ticket.repositoryId) : undefined
  const commit = repository && /^[0-9a-f]{40}$/.test(sha) ? await context.git.resolve(repository.id, sha) : undefined
  if (!form || !repository || commit === undefined)
    return reply.code(404).type('text/plain; charset=utf-8').send('404: Not Found\n')
  const name = `${accountOf(context.state, repository.ownerId).login}-${repository.name}-${commit.slice(0, 7)}`
  const child = spawn('git', ['archive', `--format=${form.format}`, `--prefix=${name}/`, commit], {
    cwd: context.git.pathOf(repository.id),
    env: { ...context.git.environment },
    timeout: longestRun,
  })
  child.stderr.resume()
  // Once the response has started, a failure can only be shown by cutting it off.
  child.on('error', error => child.stdout.destroy(error))
  child.on('close', code => {
    if (code !== 0) child.stdout.destroy(new Error(`git archive failed with exit code ${code ?? 'none (a signal)'}`))
  })
  reply.raw.on('close', () => child.kill('SIGKILL'))
  return reply.type(form.type).header('content-disposition', `attachment; filename=${name}.${form.ending}`).send(child.stdout)
}

/** Registers the path to which archive requests are redirected. */
export function registerArchiveRoutes(server: FastifyInstance, context: ActionContext): void {
  server.get('/_codeload/:owner/:repository/:format/:sha', (request, reply) => send(context, request, reply))
}
