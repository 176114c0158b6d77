// The pages of tenants: `/tenants`, and all below `/tenants/:namespace`. What they show is decided by the RBAC of the person who
// looks; for who sees nothing, the page does not exist (404).
import { Type } from '@fastify/type-provider-typebox'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { choiceIn } from '../../pages/state/choice.ts'
import { tenantsPage } from '../../pages/tenant/tenants-page.ts'
import { perMinute } from '../limits.ts'
import { personOrSignIn, sendPage } from '../pages.ts'
import { registerApplicationPage } from './application.ts'
import { registerApps } from './apps.ts'
import { registerBinding } from './binding.ts'
import { registerBuildPages } from './builds.ts'
import { registerGrantPages } from './grants.ts'
import { type Identities, orByName } from './identities.ts'
import { registerOffboardPage } from './offboard.ts'
import { registerPreviewPages } from './previews.ts'
import { registerRolesPage } from './roles.ts'
import { registerStandIn } from './stand-in.ts'
import { registerTenantPage } from './tenant.ts'

/** Every page of a tenant, and the forms on them. */
export function registerTenants(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  const readerOf = orByName(identityOf)
  registerTenantList(server, context, readerOf)
  registerTenantPage(server, context, readerOf)
  registerApplicationPage(server, context, readerOf)
  registerBuildPages(server, context, readerOf)
  registerPreviewPages(server, context, identityOf)
  registerGrantPages(server, context, readerOf)
  registerBinding(server, context, identityOf)
  registerApps(server, context, identityOf)
  registerStandIn(server, context, identityOf)
  registerRolesPage(server, context, identityOf)
  registerOffboardPage(server, context, identityOf)
}

/** All tenants, for whoever may list them. */
function registerTenantList(server: WebServer, { sessions, visibleTenants }: BrokerContext, identityOf: Identities): void {
  const options = { schema: { querystring: Type.Record(Type.String(), Type.Unknown()) }, config: perMinute(60) }
  server.get('/tenants', options, async (request, reply) => {
    const person = await personOrSignIn(sessions, request, reply)
    if (person === undefined) return reply
    const listed = await visibleTenants.all(await identityOf(person))
    return sendPage(reply, tenantsPage({ person, listed, choice: choiceIn(request.query) }))
  })
}
