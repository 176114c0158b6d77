// The pages of tenants, all below `/tenants/:namespace`.
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { registerApplicationPage } from './application.ts'
import { registerBuildPages } from './builds.ts'
import type { Identities } from './identities.ts'
import { registerPreviewPages } from './previews.ts'
import { registerTenantPage } from './tenant.ts'

/** Every page of a tenant, and the form on them. */
export function registerTenants(server: WebServer, context: BrokerContext, identityOf: Identities): void {
  registerTenantPage(server, context, identityOf)
  registerApplicationPage(server, context, identityOf)
  registerBuildPages(server, context, identityOf)
  registerPreviewPages(server, context, identityOf)
}
