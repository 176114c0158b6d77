// `/tenants/:name`: one tenant's page. For a person without a role in it the page does not exist (404).
import { Type } from '@fastify/type-provider-typebox'
import { AppError } from '../../../lib/errors.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { tenantPage } from '../../pages/tenant.ts'
import { heldTenants } from '../../people/tenant-access.ts'
import { personOrSignIn, sendPage } from '../pages.ts'

const parameters = Type.Object({ name: Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }) })

/** `/tenants/:name`: a tenant, for people who have a role in it. For other people it does not exist. */
export function registerTenants(server: WebServer, context: BrokerContext): void {
  const { sessions, people, tenants, installations, settings, clock } = context
  server.get('/tenants/:name', { schema: { params: parameters } }, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const groups = await people.shownGroups(person.host, person.userId)
    const found = tenants.get({ name: request.params.name })
    const [held] = heldTenants({ subject: person.subject, groups }, found === undefined ? [] : [found])
    if (held === undefined) throw new AppError('not_found', 'there is no such tenant, or you have no role in it')
    const bound = installations.list(held.tenant.spec.namespace)
    const issuer = settings.publicUrl.origin
    return sendPage(reply, tenantPage({ person, ...held, installations: bound, issuer, now: clock.now() }))
  })
}
