// The HTTP server: which surface has which paths. It never decides anything itself.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import fastify, { type FastifyInstance } from 'fastify'
import { registerControl } from '../control/routes.ts'
import { registerGitRoutes } from '../git-http/routes.ts'
import { registerAccessToken } from '../oauth/access-token.ts'
import { registerAuthorizePage } from '../oauth/authorize-page.ts'
import { registerAuthorizationPages } from '../pages/authorizations.ts'
import { showRefusal } from '../pages/browser.ts'
import { registerInstallPages } from '../pages/install.ts'
import { registerInstallationSettings } from '../pages/installation-settings.ts'
import { registerOrganizationPages } from '../pages/organization.ts'
import { registerPullRequestPages } from '../pages/pull-request.ts'
import { registerRepositoryPages } from '../pages/repository.ts'
import { registerAccountSettings } from '../pages/settings/account.ts'
import { registerAppSettings } from '../pages/settings/app.ts'
import { registerRepositorySettings } from '../pages/settings/repository.ts'
import { registerSignIn } from '../pages/sign-in.ts'
import { routedUrl } from '../rest/protocol/addresses.ts'
import { registerRest } from '../rest/register.ts'
import type { ServerContext } from './context.ts'
import { registerHttpFaults } from './http-faults.ts'

/** The largest form that a page accepts. */
const largestForm = 256 * 1024

/** Builds the server; it does not listen yet. `observe` receives it before its first route. */
export async function buildServer(
  context: ServerContext,
  observe: (server: FastifyInstance) => void = () => undefined,
): Promise<FastifyInstance> {
  const { restPrefix } = context.settings
  const server = fastify({
    rewriteUrl: request => routedUrl(request, restPrefix),
    bodyLimit: largestForm,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 2000 },
  })
  observe(server)
  registerHttpFaults(server, context)
  await server.register(cookie)
  await server.register(formbody, { bodyLimit: largestForm })
  server.setErrorHandler((error, request, reply) => {
    const status =
      error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
    if (status >= 500)
      context.report(
        `${request.method} ${request.url.split('?')[0]} failed: ${error instanceof Error ? error.stack : 'unknown error'}`,
      )
    return showRefusal(
      reply,
      undefined,
      status,
      status >= 500 ? 'The emulator failed; see its log.' : 'The request is malformed.',
    )
  })
  server.setNotFoundHandler((_request, reply) => showRefusal(reply, undefined, 404, 'There is no such page.'))

  registerSignIn(server, context)
  registerAuthorizePage(server, context)
  registerAccessToken(server, context)
  registerAuthorizationPages(server, context)
  registerInstallPages(server, context)
  registerInstallationSettings(server, context)
  registerOrganizationPages(server, context)
  registerAccountSettings(server, context)
  registerAppSettings(server, context)
  registerRepositoryPages(server, context)
  registerRepositorySettings(server, context)
  registerPullRequestPages(server, context)
  registerGitRoutes(server, context)
  await server.register(
    (scope, _options, done) => {
      registerControl(scope, context)
      done()
    },
    { prefix: '/_emulator' },
  )
  await server.register(
    (scope, _options, done) => {
      registerRest(scope, context)
      done()
    },
    { prefix: restPrefix },
  )
  return server
}
