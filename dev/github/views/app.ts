// The JSON of Apps and installations. It never contains a secret or a key.
import type { App, Installation } from '../state/apps.ts'
import { accountOf, appById, userOf } from '../state/github-state.ts'
import { simpleUser } from './account.ts'
import { nodeId, type View } from './view.ts'

/** OpenAPI `integration`. */
export function integration({ links, state }: View, app: App) {
  return {
    id: app.id,
    slug: app.slug,
    client_id: app.clientId,
    node_id: nodeId('Integration', app.id),
    owner: simpleUser({ links }, accountOf(state, app.ownerId)),
    name: app.name,
    description: app.description,
    external_url: app.setupUrl ?? links.appPage(app.slug),
    html_url: links.appPage(app.slug),
    created_at: app.createdAt,
    updated_at: app.updatedAt,
    permissions: app.permissions,
    events: app.events,
    installations_count: state.installations.filter(one => one.appId === app.id).length,
  }
}

/** OpenAPI `nullable-integration`: the App that wrote something through its own account. */
export function appOfBot(view: View, userId: number) {
  const app = view.state.apps.find(one => one.botId === userId)
  return app === undefined ? null : integration(view, app)
}

/** OpenAPI `installation`. */
export function installationView({ links, state }: View, installation: Installation) {
  const app = appById(state, installation.appId)
  if (!app) throw new Error(`installation ${installation.id} belongs to App ${installation.appId}, which does not exist`)
  const account = accountOf(state, installation.accountId)
  return {
    id: installation.id,
    client_id: app.clientId,
    account: simpleUser({ links }, account),
    repository_selection: installation.repositorySelection,
    access_tokens_url: links.api(`/app/installations/${installation.id}/access_tokens`),
    repositories_url: links.api('/installation/repositories'),
    html_url:
      account.kind === 'organization'
        ? links.web(`/organizations/${account.login}/settings/installations/${installation.id}`)
        : links.installationPage(installation.id),
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.kind === 'organization' ? 'Organization' : 'User',
    permissions: installation.permissions,
    events: installation.events,
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspendedById === null ? null : simpleUser({ links }, userOf(state, installation.suspendedById)),
    suspended_at: installation.suspendedAt,
  }
}
