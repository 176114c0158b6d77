// Owns: the routes that an App calls as itself, with its JSON web token. https://docs.github.com/en/rest/apps/apps
import { setSuspended, uninstallApp } from '../../actions/install-app.ts'
import { mintInstallationToken } from '../../actions/mint-installation-token.ts'
import { timestamp } from '../../clock.ts'
import type { Installation } from '../../state/apps.ts'
import {
  accountByLogin,
  appBySlug,
  installationById,
  installationOf,
  organizationByLogin,
  repositoryByName,
  userByLogin,
} from '../../state/world.ts'
import { installationRequestView, installationView, integration } from '../../views/app.ts'
import { repositoryView } from '../../views/repository.ts'
import { created, noContent, notFound, ok } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { type AppCall, appRoute, publicRoute, type RestRoute } from '../route.ts'
import { permissionsOf } from './permissions.ts'

const installationOfCall = ({ app, context, params }: AppCall): Installation => {
  const id = params['installation_id'] ?? ''
  const found = /^\d{1,15}$/.test(id) ? installationById(context.world, Number(id)) : undefined
  if (!found || found.appId !== app.id) throw notFound()
  return found
}

const ofAccount = (call: AppCall, accountId: number | undefined): Installation => {
  const found = accountId === undefined ? undefined : installationOf(call.context.world, call.app.id, accountId)
  if (!found) throw notFound()
  return found
}

const formatOf = (call: AppCall): 'short' | 'stateless' => {
  const asked = call.headers['x-github-stateless-s2s-token']
  if (asked === 'enabled') return 'stateless'
  return asked === 'disabled' ? 'short' : call.context.settings.installationTokenFormat
}

const mint = (call: AppCall) => {
  const { context, app } = call
  const fields = fieldsOf(call.body, 'InstallationToken')
  const minted = mintInstallationToken(context, app, installationOfCall(call), {
    repositories: fields.optionalTexts('repositories', 1000),
    repositoryIds: fields.optionalNumbers('repository_ids', 1000),
    permissions: permissionsOf(fields.optionalRecord('permissions')),
    format: formatOf(call),
  })
  return created({
    token: minted.token,
    expires_at: timestamp(minted.expiresAt),
    permissions: minted.permissions,
    repository_selection: minted.repositories === null ? installationOfCall(call).repositorySelection : 'selected',
    ...(minted.repositories === null ? {} : { repositories: minted.repositories.map(one => repositoryView(context, one)) }),
  })
}

export const appRoutes: readonly RestRoute[] = [
  appRoute({ method: 'GET', path: '/app', handle: ({ app, context }) => ok(integration(context, app)) }),
  publicRoute({
    method: 'GET',
    path: '/apps/{app_slug}',
    handle: ({ context, params }) => {
      const app = appBySlug(context.world, params['app_slug'] ?? '')
      if (!app) throw notFound()
      return ok(integration(context, app))
    },
  }),
  appRoute({
    method: 'GET',
    path: '/app/installations',
    handle: ({ app, context, paging }) =>
      paged(
        paging,
        context.world.installations.filter(one => one.appId === app.id),
        one => installationView(context, one),
      ),
  }),
  appRoute({
    method: 'GET',
    path: '/app/installation-requests',
    handle: ({ app, context, paging }) =>
      paged(
        paging,
        context.world.installationRequests.filter(one => one.appId === app.id),
        one => installationRequestView(context, one),
      ),
  }),
  appRoute({
    method: 'GET',
    path: '/app/installations/{installation_id}',
    handle: call => ok(installationView(call.context, installationOfCall(call))),
  }),
  appRoute({
    method: 'DELETE',
    path: '/app/installations/{installation_id}',
    handle: call => {
      uninstallApp(call.context, installationOfCall(call), call.app.botId)
      return noContent
    },
  }),
  appRoute({
    method: 'PUT',
    path: '/app/installations/{installation_id}/suspended',
    handle: call => {
      setSuspended(call.context, installationOfCall(call), call.app.botId, true)
      return noContent
    },
  }),
  appRoute({
    method: 'DELETE',
    path: '/app/installations/{installation_id}/suspended',
    handle: call => {
      setSuspended(call.context, installationOfCall(call), call.app.botId, false)
      return noContent
    },
  }),
  appRoute({ method: 'POST', path: '/app/installations/{installation_id}/access_tokens', handle: mint }),
  appRoute({
    method: 'GET',
    path: '/orgs/{org}/installation',
    handle: call =>
      ok(installationView(call.context, ofAccount(call, organizationByLogin(call.context.world, call.params['org'] ?? '')?.id))),
  }),
  appRoute({
    method: 'GET',
    path: '/users/{username}/installation',
    handle: call =>
      ok(installationView(call.context, ofAccount(call, userByLogin(call.context.world, call.params['username'] ?? '')?.id))),
  }),
  appRoute({
    method: 'GET',
    path: '/repos/{owner}/{repo}/installation',
    handle: call => {
      const { params, context } = call
      const repository = repositoryByName(context.world, params['owner'] ?? '', params['repo'] ?? '')
      const installation = ofAccount(call, accountByLogin(context.world, params['owner'] ?? '')?.id)
      const covered =
        installation.repositorySelection === 'all' || (repository && installation.repositoryIds.includes(repository.id))
      if (!repository || !covered) throw notFound()
      return ok(installationView(context, installation))
    },
  }),
]
