// One tenant's page. Who has no role there learns nothing, not even that it exists.
import { Type } from '@fastify/type-provider-typebox'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { tenantPage } from '../../pages/tenant.ts'
import { tenantRole } from '../../people/tenant-access.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

const parameters = Type.Object({ name: Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }) })

export function registerTenants(server: WebServer, context: BrokerContext): void {
  const { sessions, people, tenants, installations, settings, clock } = context
  server.get('/tenants/:name', { schema: { params: parameters } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const tenant = tenants.get({ name: request.params.name })
    const groups = await people.shownGroups(person.host, person.userId)
    const role = tenant === undefined ? undefined : tenantRole({ subject: person.subject, groups }, tenant)
    if (tenant === undefined || role === undefined)
      throw new AppError('not_found', 'there is no such tenant, or you have no role in it')
    const bound = installations.list(tenant.spec.namespace)
    const issuer = settings.publicUrl.origin
    return sendPage(reply, tenantPage({ person, tenant, role, installations: bound, issuer, now: clock.now() }))
  })
}
