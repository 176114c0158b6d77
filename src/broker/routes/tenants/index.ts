// `/tenants/:name`: one tenant's page. A person without a role in it learns nothing, not even that it exists.
import { Type } from '@fastify/type-provider-typebox'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { tenantPage } from '../../pages/tenant.ts'
import { type HeldTenant, type Identity, tenantRole } from '../../people/tenant-access.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

const parameters = Type.Object({ name: Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }) })

export function registerTenants(server: WebServer, context: BrokerContext): void {
  const { sessions, people, tenants, installations, settings, clock } = context
  server.get('/tenants/:name', { schema: { params: parameters } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const groups = await people.shownGroups(person.host, person.userId)
    const { tenant, role } = requireRole({ subject: person.subject, groups }, tenants.get({ name: request.params.name }))
    const bound = installations.list(tenant.spec.namespace)
    const issuer = settings.publicUrl.origin
    return sendPage(reply, tenantPage({ person, tenant, role, installations: bound, issuer, now: clock.now() }))
  })
}

function requireRole(identity: Identity, tenant: Tenant | undefined): HeldTenant {
  const role = tenant === undefined ? undefined : tenantRole(identity, tenant)
  if (tenant !== undefined && role !== undefined) return { tenant, role }
  throw new AppError('not_found', 'there is no such tenant, or you have no role in it')
}
