// The API of the CLI: who am I, the audit log, its signed head. Bearer is an ID token of our own issuer; nothing here reads cookies.
// Platform admins see the whole log; tenant admins see their namespace; everybody else is told that there is nothing.
import { readFile } from 'node:fs/promises'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { auditActions } from '../../../api/audit-event.ts'
import { signCheckpoint } from '../../../identity/oidc/audit-checkpoint.ts'
import type { IssuerKeys } from '../../../identity/oidc/issuer-keys.ts'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import { AppError } from '../../../lib/errors.ts'
import type { AuditLog } from '../../../store/audit/audit-log.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import type { BrokerContext } from '../../context.ts'
import { isPlatformAdmin, tenantRole } from '../../people/tenant-access.ts'

const sequence = Type.String({ pattern: '^[0-9]{1,15}$' })
const auditQuery = Type.Object({
  after: Type.Optional(sequence),
  before: Type.Optional(sequence),
  namespace: Type.Optional(Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' })),
  action: Type.Optional(Type.Union(auditActions.map(action => Type.Literal(action)))),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,3}$' })),
})
const mostEntries = 1000

/** What of the log a person may read. A namespace can come to be another tenant's: what was before this tenant is not its business. */
type AuditScope = { readonly namespace?: string; readonly since?: Date }

/** The parts of the broker that the API needs. */
export type ApiContext = Pick<BrokerContext, 'tenants' | 'verifyIdToken' | 'clock'> & {
  readonly settings: Pick<BrokerSettings, 'platformAdmins' | 'publicUrl' | 'apiServerUrl' | 'apiServerAuthorityPath'>
  readonly store: { readonly audit: Pick<AuditLog, 'list' | 'head'> }
  readonly issuerKeys: Pick<IssuerKeys, 'sign'>
}

export function registerApi(server: WebServer, context: ApiContext): void {
  const { store, tenants, settings, issuerKeys, verifyIdToken, clock } = context
  const rateLimit = { max: 300, timeWindow: 60_000 }

  const authenticated = async (request: FastifyRequest): Promise<IdentityClaims> => {
    const token = /^Bearer ([A-Za-z0-9._-]{20,16384})$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) throw new AppError('unauthenticated', 'send an ID token as bearer: sekisho login')
    return verifyIdToken(token)
  }
  const heldTenants = (identity: IdentityClaims) =>
    tenants.list().flatMap(tenant => {
      const role = tenantRole(identity, tenant)
      return role === undefined ? [] : [{ name: tenant.metadata.name, namespace: tenant.spec.namespace, role }]
    })
  const auditScope = (identity: IdentityClaims, wanted: string | undefined): AuditScope => {
    if (isPlatformAdmin(identity, settings.platformAdmins)) return wanted === undefined ? {} : { namespace: wanted }
    const administered = tenants.list().filter(tenant => tenantRole(identity, tenant) === 'admin')
    const [found, ...others] = administered.filter(({ spec }) => wanted === undefined || spec.namespace === wanted)
    if (found === undefined) throw new AppError('not_found', 'there is no audit log that you may read')
    if (others.length > 0)
      throw new AppError(
        'invalid_request',
        `namespace must be one of ${administered.map(({ spec }) => spec.namespace).join(', ')}`,
      )
    return { namespace: found.spec.namespace, since: new Date(found.metadata.creationTimestamp ?? clock.now()) }
  }

  server.get('/api/v1/whoami', { config: { rateLimit } }, async request => {
    const identity = await authenticated(request)
    return {
      subject: identity.subject,
      login: identity.login ?? null,
      groups: identity.groups,
      expiresAt: identity.expiresAt.toISOString(),
      platformAdmin: isPlatformAdmin(identity, settings.platformAdmins),
      tenants: heldTenants(identity),
    }
  })

  // Public to whoever may sign in; the authority's certificate is no secret.
  server.get('/api/v1/cluster', { config: { rateLimit } }, async request => {
    await authenticated(request)
    const { apiServerUrl, apiServerAuthorityPath } = settings
    if (apiServerUrl === undefined) throw new AppError('not_found', 'this platform does not say where its API server is')
    const authority = apiServerAuthorityPath === undefined ? null : await readFile(apiServerAuthorityPath, 'utf8')
    return { server: apiServerUrl.href.replace(/\/$/, ''), certificateAuthority: authority }
  })

  server.get('/api/v1/audit', { schema: { querystring: auditQuery }, config: { rateLimit } }, async (request, reply) => {
    const identity = await authenticated(request)
    const query = request.query
    const limit = Math.min(Number(query.limit ?? 100), mostEntries)
    const entries = await store.audit.list({
      limit,
      ...(query.after === undefined ? {} : { after: Number(query.after) }),
      ...(query.before === undefined ? {} : { before: Number(query.before) }),
      ...auditScope(identity, query.namespace),
      ...(query.action === undefined ? {} : { action: query.action }),
      ...(query.actor === undefined ? {} : { actor: query.actor }),
    })
    if (request.headers.accept?.includes('application/x-ndjson'))
      return reply.type('application/x-ndjson').send(entries.map(entry => `${JSON.stringify(entry)}\n`).join(''))
    return { entries }
  })

  server.get('/api/v1/audit/head', { config: { rateLimit } }, async request => {
    const identity = await authenticated(request)
    if (!isPlatformAdmin(identity, settings.platformAdmins))
      throw new AppError('not_found', 'there is no audit log that you may read')
    const head = await store.audit.head()
    return { ...head, statement: await signCheckpoint(issuerKeys, settings.publicUrl.origin, head) }
  })
}
