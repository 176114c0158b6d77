// `/api/v1/audit`: pages and streams of the audit log, its signed head, the checkpoints that are kept outside of the database,
// and whom a name means in it. Who reads what: src/broker/auditors/audit-readers.ts.
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { configMaps } from '../../../../api/builtin/index.ts'
import { signCheckpoint } from '../../../../identity/oidc/audit-checkpoint.ts'
import type { IssuerKeys } from '../../../../identity/oidc/issuer-keys.ts'
import type { KubeClient } from '../../../../kube/client/client.ts'
import { isAppError } from '../../../../lib/errors.ts'
import type { AuditLog } from '../../../../store/audit/audit-log.ts'
import type { WebServer } from '../../../../web/server.ts'
import { acknowledgementsIn, checkpointsKey, keptKeys, statementsIn } from '../../../audit/checkpoint-map.ts'
import { entryLines } from '../../../audit/entry-stream.ts'
import { findNamed } from '../../../audit/named.ts'
import { type AuditScope, noAuditLog } from '../../../auditors/audit-readers.ts'
import { createFollowers } from '../../../builds/followers.ts'
import type { BrokerSettings } from '../../../config.ts'
import type { BrokerContext } from '../../../context.ts'
import { perMinute } from '../../limits.ts'
import { createFollowedResponses } from '../followed-response.ts'
import { requireReader } from './reader.ts'
import { auditFilter, auditFilters, sequenceText } from './scope.ts'

/** What these routes need of the broker. */
export type AuditContext = Pick<BrokerContext, 'auditReaders' | 'serviceAccounts' | 'verifyIdToken' | 'clock'> & {
  readonly settings: Pick<BrokerSettings, 'publicUrl'>
  readonly store: {
    readonly audit: Pick<AuditLog, 'list' | 'lines' | 'head' | 'start' | 'names'>
  }
  readonly issuerKeys: Pick<IssuerKeys, 'sign' | 'publicKeys'>
  readonly losses: { readonly kube: Pick<KubeClient, 'get'> }
}

const maxEntries = 1000

const pageQuery = Type.Object({
  ...auditFilters,
  after: Type.Optional(sequenceText),
  before: Type.Optional(sequenceText),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,3}$' })),
})
const streamQuery = Type.Object({
  ...auditFilters,
  after: Type.Optional(sequenceText),
  follow: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
})
const nameText = Type.String({ minLength: 1, maxLength: 200 })
const namesQuery = Type.Object({
  person: Type.Optional(nameText),
  repository: Type.Optional(nameText),
  namespace: auditFilters.namespace,
})

/** `GET /api/v1/audit`, `/api/v1/audit/{stream,head,checkpoints,names}`. */
export function registerAudit(server: WebServer, context: AuditContext): void {
  const { store, settings, issuerKeys, auditReaders } = context
  const { audit } = store
  const config = perMinute(300)

  server.get('/api/v1/audit', { schema: { querystring: pageQuery }, config }, async (request, reply) => {
    const { after, before, limit, ...filters } = request.query
    const { reader } = await requireReader(context, request)
    const scope = await auditReaders.scope(reader, filters.namespace)
    const entries = await audit.list({
      ...auditFilter(filters, scope),
      limit: Math.min(Number(limit ?? 100), maxEntries),
      ...(after === undefined ? {} : { after: Number(after) }),
      ...(before === undefined ? {} : { before: Number(before) }),
    })
    if (request.headers.accept?.includes('application/x-ndjson'))
      return reply.type('application/x-ndjson').send(entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
    return { entries }
  })

  registerStream(server, context)

  server.get('/api/v1/audit/head', { config }, async request => {
    await requireWholeLog(context, request)
    const head = await audit.head()
    return { ...head, statement: await signCheckpoint(issuerKeys, settings.publicUrl.origin, head) }
  })

  server.get('/api/v1/audit/checkpoints', { config: perMinute(60) }, async request => {
    await requireWholeLog(context, request)
    const kept = await context.losses.kube.get(configMaps, checkpointsKey)
    return {
      statements: [...statementsIn(kept, 'entry'), ...statementsIn(kept, 'lost')].map(({ statement }) => statement),
      acknowledgements: acknowledgementsIn(kept),
      keys: [...issuerKeys.publicKeys.keys, ...keptKeys(kept).keys],
    }
  })

  server.get('/api/v1/audit/names', { schema: { querystring: namesQuery }, config: perMinute(60) }, async request => {
    const { person, repository, namespace } = request.query
    const { reader } = await requireReader(context, request)
    const scope = await auditReaders.scope(reader, namespace)
    const found = async (kind: 'person' | 'repository', name: string | undefined) =>
      name === undefined ? undefined : findNamed(await store.audit.names(kind, scope.namespace), name)
    return { person: await found('person', person), repository: await found('repository', repository) }
  })
}

async function requireWholeLog(context: AuditContext, request: FastifyRequest): Promise<void> {
  const { reader } = await requireReader(context, request)
  if (!(await context.auditReaders.ofAll(reader))) throw noAuditLog()
}

function registerStream(server: WebServer, context: AuditContext): void {
  const { store, clock, auditReaders } = context
  const followers = createFollowers('audit logs')
  const endOf = createFollowedResponses(server, clock)
  const schema = { querystring: streamQuery }
  server.get('/api/v1/audit/stream', { schema, config: perMinute(300) }, async (request, reply) => {
    const { after, follow, ...filters } = request.query
    const { reader, name, expiresAt } = await requireReader(context, request)
    const scope = await auditReaders.scope(reader, filters.namespace)
    const leave = followers.enter(name)
    const signal = endOf({ reply, expiresAt, leave })
    const place = { after: Number(after ?? 0), filter: auditFilter(filters, scope), follow: follow === 'true' }
    // The whole way again: the token, the account, its namespace and the right.
    const mayGoOn = () =>
      isUnchanged(scope, async () => auditReaders.scope((await requireReader(context, request)).reader, filters.namespace))
    return reply
      .type('application/x-ndjson')
      .send(Readable.from(entryLines({ audit: store.audit, clock, ...place, mayGoOn, signal })))
  })
}

/** Not while it cannot be known. */
async function isUnchanged(scope: AuditScope, read: () => Promise<AuditScope>): Promise<boolean> {
  try {
    return isDeepStrictEqual(await read(), scope)
  } catch (error) {
    if (!isAppError(error)) throw error
    return false
  }
}
