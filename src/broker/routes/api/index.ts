// The API of the CLI: who am I, where the API server is, the audit log and its signed head. The bearer token is an ID token of
// our own issuer; nothing here reads cookies. Platform admins read the whole log, tenant admins that of their namespace;
// everybody else gets `not_found`.
import { readFile } from 'node:fs/promises'
import { type Static, Type } from '@fastify/type-provider-typebox'
import { auditActions } from '../../../api/audit/audit-event.ts'
import { auditOutcomes } from '../../../api/audit/audit-event-shape.ts'
import { signCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import type { IssuerKeys } from '../../../identity/oidc/issuer-keys.ts'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import type { BrokerContext } from '../../context.ts'
import { heldTenants } from '../../people/tenant-access.ts'
import { idText, namespaceText } from '../field-schemas.ts'
import { perMinute } from '../limits.ts'
import { requireBearer } from './bearer.ts'

const sequence = Type.String({ pattern: '^[0-9]{1,15}$' })
const dateTime = Type.String({ format: 'date-time', maxLength: 30, pattern: 'Z$' })
const auditQuery = Type.Object({
  after: Type.Optional(sequence),
  before: Type.Optional(sequence),
  namespace: Type.Optional(namespaceText),
  action: Type.Optional(Type.Union(auditActions.map(action => Type.Literal(action)))),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  outcome: Type.Optional(Type.Union(auditOutcomes.map(outcome => Type.Literal(outcome)))),
  object: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  repository: Type.Optional(idText),
  /** Who acted, in whose name access was, or who ended it. */
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  /** Of a grant or another object. */
  uid: Type.Optional(Type.String({ pattern: '^[0-9a-zA-Z-]{1,64}$' })),
  /** SHA-256 of a token in base64, as in GitHub's audit log. */
  hashedToken: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' })),
  since: Type.Optional(dateTime),
  until: Type.Optional(dateTime),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,3}$' })),
})
const maxEntries = 1000

/**
 * The part of the log that a person may read. A namespace may have belonged to another tenant before: entries older than this
 * tenant are left out.
 */
type AuditScope = { readonly namespace?: string; readonly since?: Date }

/** The parts of the broker that the API needs. */
export type ApiContext = Pick<BrokerContext, 'tenants' | 'platformAdmins' | 'verifyIdToken' | 'clock'> & {
  readonly settings: Pick<BrokerSettings, 'publicUrl' | 'apiServerUrl' | 'apiServerAuthorityPath'>
  readonly store: { readonly audit: Pick<AuditLog, 'list' | 'head'> }
  readonly issuerKeys: Pick<IssuerKeys, 'sign'>
}

/** `/api/v1/{whoami,cluster,audit,audit/head}`, for the CLI. Authenticated by an ID token as bearer. */
export function registerApi(server: WebServer, context: ApiContext): void {
  const { store, tenants, platformAdmins, settings, issuerKeys, verifyIdToken } = context
  const config = perMinute(300)

  server.get('/api/v1/whoami', { config }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    return {
      subject: identity.subject,
      login: identity.login ?? null,
      groups: identity.groups,
      expiresAt: identity.expiresAt.toISOString(),
      platformAdmin: await platformAdmins.includes(identity),
      tenants: heldTenants(identity, tenants.list()).map(({ tenant, role }) => {
        return { name: tenant.metadata.name, namespace: tenant.spec.namespace, role }
      }),
    }
  })

  // For everybody who can sign in: the certificate of the authority is not a secret.
  server.get('/api/v1/cluster', { config }, async request => {
    await verifyIdToken(requireBearer(request))
    const { apiServerUrl, apiServerAuthorityPath } = settings
    if (apiServerUrl === undefined)
      throw new AppError('not_found', 'the address of the API server is not configured: ask the platform operator')
    const authority = apiServerAuthorityPath === undefined ? null : await readFile(apiServerAuthorityPath, 'utf8')
    return { server: apiServerUrl.href.replace(/\/$/, ''), certificateAuthority: authority }
  })

  server.get('/api/v1/audit', { schema: { querystring: auditQuery }, config }, async (request, reply) => {
    const identity = await verifyIdToken(requireBearer(request))
    const scope = await auditScope(context, identity, request.query.namespace)
    const filter = auditFilter(request.query)
    // The tenant's own beginning is a limit that a request cannot move.
    const since = [filter.since, scope.since].flatMap(date => date ?? []).toSorted((a, b) => b.getTime() - a.getTime())[0]
    const entries = await store.audit.list({ ...filter, ...scope, ...defined({ since }) })
    if (request.headers.accept?.includes('application/x-ndjson'))
      return reply.type('application/x-ndjson').send(entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
    return { entries }
  })

  server.get('/api/v1/audit/head', { config }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    if (!(await platformAdmins.includes(identity))) throw noAuditLog()
    const head = await store.audit.head()
    return { ...head, statement: await signCheckpoint(issuerKeys, settings.publicUrl.origin, head) }
  })
}

async function auditScope(context: ApiContext, identity: IdentityClaims, namespace: string | undefined): Promise<AuditScope> {
  const { tenants, platformAdmins, clock } = context
  if (await platformAdmins.includes(identity)) return namespace === undefined ? {} : { namespace }
  const administered = heldTenants(identity, tenants.list()).flatMap(({ tenant, role }) => (role === 'admin' ? [tenant] : []))
  const [found, ...others] = administered.filter(({ spec }) => namespace === undefined || spec.namespace === namespace)
  if (found === undefined) throw noAuditLog()
  if (others.length > 0)
    throw new AppError('invalid_request', `namespace must be one of ${administered.map(({ spec }) => spec.namespace).join(', ')}`)
  return { namespace: found.spec.namespace, since: new Date(found.metadata.creationTimestamp ?? clock.now()) }
}

function auditFilter(query: Static<typeof auditQuery>) {
  const { limit, after, before, action, actor, outcome, object, repository, user, uid, hashedToken, since, until } = query
  return {
    limit: Math.min(Number(limit ?? 100), maxEntries),
    ...(after === undefined ? {} : { after: Number(after) }),
    ...(before === undefined ? {} : { before: Number(before) }),
    ...defined({ action, actor, outcome, object, user, uid, hashedToken }),
    ...(repository === undefined ? {} : { repositoryId: Number(repository) }),
    ...(since === undefined ? {} : { since: new Date(since) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
  }
}

/** The same for a log that exists and one that does not. */
function noAuditLog(): AppError {
  return new AppError('not_found', 'there is no audit log that you may read')
}
