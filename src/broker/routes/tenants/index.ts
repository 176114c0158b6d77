// The pages of tenants, all below `/tenants/:namespace`.
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { registerApplicationPage } from './application.ts'
import { registerApps } from './apps.ts'
import { registerBinding } from './binding.ts'
import { registerBuildPages } from './builds.ts'
import { registerGrantPages } from './grants.ts'
import type { Identities } from './identities.ts'
import { registerOffboardPage } from './offboard.ts'
import { registerPreviewPages } from './previews.ts'
import { registerRolesPage } from './roles.ts'
import { registerStandIn } from './stand-in.ts'
import { registerTenantPage } from './tenant.ts'

/** Every page of a tenant, and the forms on them. */
export function registerTenants(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  registerTenantPage(server, context, identityOf)
  registerApplicationPage(server, context, identityOf)
  registerBuildPages(server, context, identityOf)
  registerPreviewPages(server, context, identityOf)
  registerGrantPages(server, context, identityOf)
  registerBinding(server, context, identityOf)
  registerApps(server, context, identityOf)
  registerStandIn(server, context, identityOf)
  registerRolesPage(server, context, identityOf)
  registerOffboardPage(server, context, identityOf)
}
