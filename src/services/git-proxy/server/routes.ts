// The git proxy's routes: git's smart HTTP protocol, below /<GitHub host>/<owner>/<repository>. Nothing else of GitHub passes.
// Errors are text, which git shows to its user.
// Source: https://git-scm.com/docs/http-protocol , https://git-scm.com/docs/gitprotocol-v2
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../lib/errors.ts'
import { asObject, parseJson, textAt } from '../../../lib/json/json-value.ts'
import { createPacketSplitter } from '../../packet-lines.ts'
import type { GitStream } from '../streams/git-streams.ts'
import { requestBody } from '../streams/request-body.ts'
import { type AccessDeps, accessOf, type GitService, gitServices } from './access.ts'
import { type PushDeps, push } from './push.ts'
import { type Exchange, passOn, runTransfer } from './transfer.ts'

export type GitProxyDeps = AccessDeps & PushDeps

const segment = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_.-]+$' })
const paramsSchema = Type.Object({ host: segment(253), owner: segment(100), repository: segment(110) })
const advertisedSchema = Type.Object(
  { service: Type.Unsafe<GitService>(Type.String({ enum: [...gitServices] })) },
  { additionalProperties: false },
)
type Params = Static<typeof paramsSchema>

/** What the client has and wants: with some hundred thousand refs a few megabytes. */
const maxFetchBytes = 16 * 1024 * 1024

/** A plugin for a server that listens inside the cluster only. */
export function gitProxyRoutes(deps: GitProxyDeps): FastifyPluginAsync {
  return async (server: FastifyInstance) => {
    for (const service of gitServices)
      server.addContentTypeParser(`application/x-${service}-request`, (_request, payload, done) => done(null, payload))
    server.addHook('onSend', async (_request, reply, payload) => asText(reply, payload))

    server.get<{ Params: Params; Querystring: Static<typeof advertisedSchema> }>(
      '/:host/:owner/:repository/info/refs',
      { schema: { params: paramsSchema, querystring: advertisedSchema } },
      async (request, reply) => {
        const { service } = request.query
        if (service === 'git-upload-pack') requireVersion2(request)
        const exchange = await admitted(deps, { request, reply }, service)
        await runTransfer(deps, exchange, stream =>
          passOn(deps, exchange, stream, {
            ...{ method: 'GET', path: `/info/refs?service=${service}`, answers: `application/x-${service}-advertisement` },
            headers: service === 'git-upload-pack' ? version2 : {},
          }),
        )
        return reply
      },
    )
    server.post<{ Params: Params }>(
      '/:host/:owner/:repository/git-upload-pack',
      { schema: { params: paramsSchema } },
      async (request, reply) => {
        requireVersion2(request)
        const exchange = await admitted(deps, { request, reply }, 'git-upload-pack')
        await runTransfer(deps, exchange, stream => fetchPack(deps, exchange, stream))
        return reply
      },
    )
    server.post<{ Params: Params }>(
      '/:host/:owner/:repository/git-receive-pack',
      { schema: { params: paramsSchema } },
      async (request, reply) => {
        const exchange = await admitted(deps, { request, reply }, 'git-receive-pack')
        await runTransfer(deps, exchange, stream => push(deps, exchange, stream))
        return reply
      },
    )
  }
}

async function admitted(
  deps: AccessDeps,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  service: GitService,
): Promise<Exchange> {
  const { host, owner, repository } = request.params as Params
  const { authorization } = request.headers
  const advertises = request.method === 'GET'
  const access = await accessOf(deps, { authorization, address: request.ip, host, owner, repository, service, advertises })
  return { request, reply, access }
}

const version2 = { 'git-protocol': 'version=2' } as const

function requireVersion2({ headers }: FastifyRequest): void {
  if (
    String(headers['git-protocol'] ?? '')
      .split(':')
      .includes('version=2')
  )
    return
  throw new AppError(
    'invalid_request',
    'the git proxy needs protocol version 2 to fetch: git 2.26 or later, or git -c protocol.version=2',
  )
}

function fetchPack(deps: GitProxyDeps, exchange: Exchange, stream: GitStream): Promise<void> {
  const body = requestBody(exchange.request.raw, { most: maxFetchBytes, stream })
  return passOn(deps, exchange, stream, {
    ...{ method: 'POST', path: '/git-upload-pack', answers: 'application/x-git-upload-pack-result' },
    headers: { ...version2, 'content-type': 'application/x-git-upload-pack-request' },
    body: commandFirst(body),
  })
}

const fetchCommand = /^command=(ls-refs|fetch|object-info)\n?$/

/** The same bytes, once it is known that they begin with a command to read. Ends with AppError `invalid_request` otherwise. */
async function* commandFirst(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const splitter = createPacketSplitter()
  const held: Buffer[] = []
  let isKnown = false
  for await (const piece of body) {
    if (!isKnown) {
      splitter.push(piece)
      held.push(piece)
      const line = splitter.next()
      if (line === undefined) continue
      // git asks with an empty request whether the server answers, before it sends a large one.
      if (line.kind === 'data' ? !fetchCommand.test(line.data.toString('latin1')) : line.kind !== 'flush')
        throw new AppError('invalid_request', 'the request is not a command of git’s protocol version 2 that reads')
      isKnown = true
      yield* held.splice(0)
    } else yield piece
  }
  if (!isKnown) throw new AppError('invalid_request', 'the request has no command of git’s protocol')
}

/** Errors of the server are JSON; git shows what is plain text. */
function asText(reply: FastifyReply, payload: unknown): unknown {
  if (reply.statusCode < 400 || typeof payload !== 'string') return payload
  if (reply.statusCode === 401) reply.header('www-authenticate', 'Basic realm="Sekisho", charset="UTF-8"')
  const error = asObject(asObject(parseJson(payload))?.['error'])
  reply.header('content-type', 'text/plain; charset=utf-8')
  reply.removeHeader('content-length')
  return `${textAt(error, 'message') ?? 'the request failed'} (request ${reply.request.id})\n`
}
