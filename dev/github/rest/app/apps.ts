import { mintInstallationToken } from '../../actions/mint-installation-token.ts'
import type { Installation } from '../../state/apps.ts'
import { timestamp } from '../../state/clock.ts'
import { installationById } from '../../state/github-state.ts'
import { installationView, integration } from '../../views/app.ts'
import { repositoryView } from '../../views/repository.ts'
import { created, notFound, ok } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { type AppCall, appRoute, type RestRoute } from '../route.ts'
import { permissionsOf } from './permissions.ts'

function installationOfCall({ app, context, params }: AppCall): Installation {
  const id = params['installation_id'] ?? ''
  const found = /^\d{1,15}$/.test(id) ? installationById(context.state, Number(id)) : undefined
  if (!found || found.appId !== app.id) throw notFound()
  return found
}

function formatOf(call: AppCall): 'short' | 'stateless' {
  const asked = call.headers['x-github-stateless-s2s-token']
  if (asked === 'enabled') return 'stateless'
  return asked === 'disabled' ? 'short' : call.context.settings.installationTokenFormat
}

function mint(call: AppCall) {
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
  appRoute({
    method: 'GET',
    path: '/app/installations',
    handle: ({ app, context, paging }) =>
      paged(
        paging,
        context.state.installations.filter(one => one.appId === app.id),
        one => installationView(context, one),
      ),
  }),
  appRoute({
    method: 'GET',
    path: '/app/installations/{installation_id}',
    handle: call => ok(installationView(call.context, installationOfCall(call))),
  }),
  appRoute({ method: 'POST', path: '/app/installations/{installation_id}/access_tokens', handle: mint }),
]
