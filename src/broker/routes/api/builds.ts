// `/api/v1/tenants/:namespace/builds`: the builds of a tenant and their logs, for whoever RBAC lets `get` the log of their
// RemoteSync. A log is plain text, or a JSON object per line for programs that go on where a connection broke.
import { Readable } from 'node:stream'
import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../lib/clock.ts'
import type { BuildRecord } from '../../../store/builds/build-record.ts'
import type { WebServer } from '../../../web/server.ts'
import { createFollowers } from '../../builds/followers.ts'
import { type LogEvent, readLog, startOfLastLines } from '../../builds/read-log.ts'
import type { VisibleBuilds } from '../../builds/visible-builds.ts'
import type { BrokerContext } from '../../context.ts'
import type { Identity } from '../../people/tenant-access.ts'
import { buildNameText, namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { requireBearer } from './bearer.ts'
import { createFollowedResponses } from './followed-response.ts'

/** What these routes need of the broker. */
export type BuildsContext = Pick<BrokerContext, 'verifyIdToken' | 'builds' | 'clock'>

const listQuery = Type.Object({
  remoteSync: Type.Optional(buildNameText),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$' })),
})
const logQuery = Type.Object({
  follow: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
  from: Type.Optional(Type.String({ pattern: '^[0-9]{1,12}$' })),
  tailLines: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,4}$' })),
})

/** `GET` of the list, of one build, and of its log. */
export function registerBuilds(server: WebServer, context: BuildsContext): void {
  const { builds, verifyIdToken, clock } = context
  const followers = createFollowers()
  const endOf = createFollowedResponses(server, clock)
  const path = '/api/v1/tenants/:namespace/builds'
  const config = perMinute(120)

  const inNamespace = { params: Type.Object({ namespace: namespaceText }), querystring: listQuery }
  server.get(path, { schema: inNamespace, config }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    const { limit = '50', ...query } = request.query
    const { builds: found, queued } = await builds.list(identity, request.params.namespace, { ...query, limit: Number(limit) })
    return { builds: found.map(shownBuild), queued }
  })

  const ofBuild = { params: Type.Object({ namespace: namespaceText, name: buildNameText }) }
  server.get(`${path}/:name`, { schema: ofBuild, config }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    return shownBuild(await builds.find(identity, request.params.namespace, request.params.name))
  })

  server.get(`${path}/:name/log`, { schema: { ...ofBuild, querystring: logQuery }, config }, async (request, reply) => {
    const identity = await verifyIdToken(requireBearer(request))
    const build = await builds.find(identity, request.params.namespace, request.params.name)
    const follow = request.query.follow === 'true'
    const leave = follow ? followers.enter(identity.subject) : () => {}
    try {
      const from = await firstByte(builds, build, request.query)
      const signal = endOf({ reply, expiresAt: identity.expiresAt, leave })
      return sendLog({ builds, clock }, { request, reply }, { identity, build, from, follow, signal })
    } catch (error) {
      leave()
      throw error
    }
  })
}

async function firstByte({ kept }: VisibleBuilds, { id }: BuildRecord, query: Static<typeof logQuery>): Promise<number> {
  if (query.tailLines === undefined) return Number(query.from ?? 0)
  return startOfLastLines(kept, id, Number(query.tailLines))
}

/** Sends the log as it is read; also used by the page's link to the whole log. */
function sendLog(
  { builds, clock }: { readonly builds: VisibleBuilds; readonly clock: Clock },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  log: {
    readonly identity: Identity
    readonly build: BuildRecord
    readonly from: number
    readonly follow: boolean
    readonly signal: AbortSignal
  },
): FastifyReply {
  const { identity, build, from, follow, signal } = log
  const asLines = (request.headers.accept ?? '').includes('application/x-ndjson')
  const events = readLog({ kept: builds.kept, clock }, build, {
    from,
    follow,
    mayRead: () => builds.mayRead(identity, build),
    signal,
  })
  reply.type(asLines ? 'application/x-ndjson' : 'text/plain; charset=utf-8')
  return reply.send(Readable.from(formatted(events, asLines ? eventLine : eventText)))
}

async function* formatted(events: AsyncIterable<LogEvent>, format: (event: LogEvent) => string): AsyncGenerator<string> {
  for await (const event of events) {
    const text = format(event)
    if (text !== '') yield text
  }
}

function eventLine(event: LogEvent): string {
  const line = event.kind === 'ended' ? { kind: event.kind, ...shownEnd(event.ended) } : event
  return `${JSON.stringify(line)}\n`
}

/** The log itself, with a sentence where a part is left out. */
export function eventText(event: LogEvent): string {
  if (event.kind === 'text') return event.text
  return event.kind === 'left-out' ? `[${event.bytes} bytes of the log are left out here]\n` : ''
}

function shownEnd({ at, outcome, cause }: NonNullable<BuildRecord['ended']>) {
  return { endedAt: at.toISOString(), outcome, cause: cause ?? null }
}

function shownBuild({ name: buildName, remoteSync, commit, attempt, createdAt, ended, steps, bytes, leftOut }: BuildRecord) {
  return {
    name: buildName,
    remoteSync: remoteSync.name,
    commit,
    attempt,
    createdAt: createdAt.toISOString(),
    ...(ended === undefined ? { endedAt: null, outcome: null, cause: null } : shownEnd(ended)),
    steps,
    logBytes: bytes,
    leftOutBytes: leftOut,
  }
}
