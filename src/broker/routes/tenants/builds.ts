// `/tenants/:namespace/builds` and `/tenants/:namespace/builds/:name`: the pages of builds, and `…/log`: the whole log as plain
// text. For people whom RBAC lets read the log; for others they do not exist (404).
import { Readable } from 'node:stream'
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import { readLog, startOfLastLines } from '../../builds/read-log.ts'
import type { BrokerContext } from '../../context.ts'
import { buildPage, buildsPage } from '../../pages/builds.ts'
import { eventText } from '../api/builds.ts'
import { buildNameText, namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import type { Identities } from './identities.ts'

const maxBuilds = 50
/** On the page of a build that runs, and of one that has ended. */
const linesWhileRunning = 200
const linesAtEnd = 2000
/** A line may be long. */
const maxBytesOnPage = 262_144

/** The pages, and the log as text. */
export function registerBuildPages(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const { sessions, builds, clock } = context
  const config = perMinute(120)

  const list = { schema: { params: Type.Object({ namespace: namespaceText }) }, config }
  server.get('/tenants/:namespace/builds', list, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const found = await builds.list(await identityOf(person), request.params.namespace, { limit: maxBuilds })
    return sendPage(reply, buildsPage({ person, namespace: request.params.namespace, list: found, now: clock.now() }))
  })

  const one = { schema: { params: Type.Object({ namespace: namespaceText, name: buildNameText }) }, config }
  server.get('/tenants/:namespace/builds/:name', one, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const build = await builds.find(await identityOf(person), request.params.namespace, request.params.name)
    const lines = build.ended === undefined ? linesWhileRunning : linesAtEnd
    const from = Math.max(await startOfLastLines(builds.kept, build.id, lines), build.bytes - maxBytesOnPage)
    let log = ''
    for await (const text of texts(context, build, from)) log += text
    return sendPage(reply, buildPage({ person, build, log, isWhole: from === 0, now: clock.now() }))
  })

  server.get('/tenants/:namespace/builds/:name/log', one, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const build = await builds.find(await identityOf(person), request.params.namespace, request.params.name)
    return reply.type('text/plain; charset=utf-8').send(Readable.from(texts(context, build, 0)))
  })
}

async function* texts(
  { builds, clock }: BrokerContext,
  build: Parameters<typeof readLog>[1],
  from: number,
): AsyncGenerator<string> {
  const options = { from, follow: false, mayRead: async () => true, signal: new AbortController().signal }
  for await (const event of readLog({ kept: builds.kept, clock }, build, options)) yield eventText(event)
}
