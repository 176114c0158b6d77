// The faults of any request: before it is handled, or in its response. The refusals of REST are in
// rest/protocol/rest-faults.ts, because they have REST's form. It never touches the control API.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setSuspended } from '../actions/install-app.ts'
import { fits, type Target, targetOf } from '../faults/target.ts'
import type { Installation } from '../state/apps.ts'
import { installationById, organizationById } from '../state/github-state.ts'
import { tokenOf } from '../tokens/authenticate.ts'
import { credentialKey } from '../tokens/formats.ts'
import { delayAnswer, pause, resetAfterwards, resetConnection, resetDuring, slowBody } from './broken-answer.ts'
import type { ServerContext } from './context.ts'

function tokenKeyOf(request: FastifyRequest): string | undefined {
  const token = tokenOf(request.headers.authorization)
  return token === undefined ? undefined : credentialKey(token)
}

function revokeToken(context: ServerContext, target: Target, key: string | undefined): void {
  if (key === undefined || context.state.credentials.accessTokens[key] === undefined) return
  if (!context.faults.take('token-revoked', fault => fits(fault, target))) return
  context.store.change(({ credentials }) => {
    delete credentials.accessTokens[key]
  })
}

function installationIn(context: ServerContext, target: Target, key: string | undefined): Installation | undefined {
  const token = key === undefined ? undefined : context.state.credentials.accessTokens[key]
  const named = /^\/app\/installations\/(\d{1,15})(?:\/|$)/.exec(target.path)?.[1]
  const id = token?.kind === 'installation' ? token.installationId : named
  return id === undefined ? undefined : installationById(context.state, Number(id))
}

function suspend(context: ServerContext, target: Target, key: string | undefined): void {
  const installation = installationIn(context, target, key)
  if (!installation || installation.suspendedAt !== null) return
  if (!context.faults.take('installation-suspended', fault => fits(fault, target))) return
  const owner = organizationById(context.state, installation.accountId)?.memberships.find(one => one.role === 'admin')?.userId
  setSuspended(context, installation, owner ?? installation.accountId, true)
}

function answerStatus(context: ServerContext, target: Target, reply: FastifyReply): FastifyReply | undefined {
  if (target.surface === 'git') {
    const fault = context.faults.take('git-status', one => fits(one, target))
    return (
      fault &&
      reply
        .code(fault.status)
        .headers({ ...fault.headers })
        .type('text/plain; charset=utf-8')
        .send('Unavailable\n')
    )
  }
  if (target.surface !== 'web') return undefined
  const fault = context.faults.take('web-status', one => fits(one, target))
  const page = '<!doctype html><title>Unicorn!</title><p>This page is taking too long to load.</p>'
  return (
    fault &&
    reply
      .code(fault.status)
      .headers({ ...fault.headers })
      .type('text/html; charset=utf-8')
      .send(page)
  )
}

/** Refuses git a token that is not replicated yet; REST has its own refusal. */
function refuseFresh(context: ServerContext, key: string | undefined, reply: FastifyReply): boolean {
  const status = key === undefined ? undefined : context.faults.takeRefusal(key)
  if (status === undefined) return false
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="GitHub"')
  const message = status === 401 ? 'Invalid username or token.' : 'Write access to repository not granted.'
  void reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`)
  return true
}

/** Applies the faults of the response; `false` when the connection is already closed. */
async function breakLine(context: ServerContext, target: Target, reply: FastifyReply): Promise<boolean> {
  const response = reply.raw
  const reset = context.faults.take('reset', fault => fits(fault, target))
  if (reset?.when === 'before') {
    reply.hijack()
    resetConnection(response)
    return false
  }
  if (reset?.when === 'after') resetAfterwards(response)
  if (reset?.when === 'during') resetDuring(response, reset.bytes ?? 0)
  const slow = context.faults.take('slow-body', fault => fits(fault, target))
  if (slow) slowBody(response, slow.bytesPerSecond)
  const late = context.faults.take('slow-answer', fault => fits(fault, target))
  if (late?.when === 'after') delayAnswer(response, late.milliseconds)
  else if (late) await pause(late.milliseconds, response)
  return true
}

/** Registers the hook, which must be the first of the server. It also sets the Date header by the emulator's clock. */
export function registerHttpFaults(server: FastifyInstance, context: ServerContext): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.raw.setHeader('date', new Date(context.now()).toUTCString())
    const target = targetOf(request.method, request.url, context.settings.restPrefix)
    if (target.surface === 'control') return
    const key = tokenKeyOf(request)
    if (context.faults.list().length > 0) {
      if (!(await breakLine(context, target, reply))) return
      revokeToken(context, target, key)
      suspend(context, target, key)
    }
    if (target.surface === 'git' && refuseFresh(context, key, reply)) return
    await answerStatus(context, target, reply)
  })
}
