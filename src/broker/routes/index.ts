// Every route of the broker. Folders and files are named after the URLs.
import type { WebServer } from '../../web/server.ts'
import type { BrokerContext } from '../context.ts'
import { registerAuditAcknowledge } from './api/audit/acknowledge.ts'
import { registerBuilds } from './api/builds.ts'
import { registerApi } from './api/index.ts'
import { registerKeys } from './api/keys.ts'
import { refuseUnknownParameters } from './api/known-parameters.ts'
import { registerOnboardingsApi } from './api/onboardings.ts'
import { registerPreviewsApi } from './api/previews.ts'
import { registerSessions } from './api/sessions.ts'
import { registerAuditPages } from './audit/index.ts'
import { registerHome } from './home/index.ts'
import { registerLogin } from './login/index.ts'
import { registerLogout } from './logout/index.ts'
import { registerOidc } from './oidc/index.ts'
import { registerOnboard } from './onboard/index.ts'
import { registerOnboardings } from './onboardings/index.ts'
import { createIdentities } from './tenants/identities.ts'
import { registerTenants } from './tenants/index.ts'
import { registerWebhooks } from './webhooks/index.ts'

/** Resolves when all routes are registered; before the server listens. */
export async function registerRoutes(server: WebServer, context: BrokerContext): Promise<void> {
  refuseUnknownParameters(server)
  registerHome(server, context)
  registerLogin(server, context)
  registerLogout(server, context)
  registerOnboard(server, context)
  registerOnboardings(server, context)
  const identityOf = createIdentities(context)
  registerTenants(server, context, identityOf)
  registerAuditPages(server, context, identityOf)
  registerApi(server, context)
  registerBuilds(server, context)
  registerPreviewsApi(server, context)
  registerSessions(server, context)
  registerOnboardingsApi(server, context)
  registerKeys(server, context)
  registerAuditAcknowledge(server, context)
  await registerOidc(server, context)
  await registerWebhooks(server, context)
}
