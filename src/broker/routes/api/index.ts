// The API of the CLI: who am I, where the API server is, and the audit log (audit/). The bearer token is an ID token of our own
// issuer; nothing here reads cookies.
import { readFile } from 'node:fs/promises'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerSettings } from '../../config.ts'
import type { BrokerContext } from '../../context.ts'
import { heldTenants } from '../../people/tenant-access.ts'
import { perMinute } from '../limits.ts'
import { type AuditContext, registerAudit } from './audit/index.ts'
import { requireBearer } from './bearer.ts'

/** The parts of the broker that the API needs. */
export type ApiContext = Pick<BrokerContext, 'tenants' | 'platformAdmins' | 'verifyIdToken'> &
  AuditContext & { readonly settings: Pick<BrokerSettings, 'apiServerUrl' | 'apiServerAuthorityPath'> }

/** `/api/v1/{whoami,cluster,audit,audit/…}`, for the CLI. Authenticated by an ID token as bearer. */
export function registerApi(server: WebServer, context: ApiContext): void {
  const { tenants, platformAdmins, auditReaders, settings, verifyIdToken } = context
  const config = perMinute(300)

  server.get('/api/v1/whoami', { config }, async request => {
    const identity = await verifyIdToken(requireBearer(request))
    return {
      subject: identity.subject,
      login: identity.login ?? null,
      groups: identity.groups,
      expiresAt: identity.expiresAt.toISOString(),
      platformAdmin: await platformAdmins.includes(identity),
      auditor: await auditReaders.ofAll(identity),
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

  registerAudit(server, context)
}
