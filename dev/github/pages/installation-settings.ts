// The page on which an owner changes, suspends or removes one installation and decides about the requests of members.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import {
  accountLogin,
  dropInstallationRequest,
  installApp,
  selectRepositories,
  setSuspended,
  uninstallApp,
} from '../actions/install-app.ts'
import { acceptPermissions, pendingPermissions } from '../actions/installation-permissions.ts'
import { administers } from '../state/access.ts'
import type { App, Installation, InstallationRequest } from '../state/apps.ts'
import { accountById, appById, installationById, repositoriesOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { type Html, html } from './html.ts'
import { afterInstall, repositoryChoice, selectionOf } from './installation-forms.ts'
import { buttonForm, formToken, page } from './layout.ts'

type Subject = { readonly installation: Installation; readonly app: App }

function subjectOf({ context, params, visitor }: PageCall): Subject {
  const id = params['id'] ?? ''
  const installation = /^\d{1,15}$/.test(id) ? installationById(context.state, Number(id)) : undefined
  const app = installation && appById(context.state, installation.appId)
  if (!installation || !app || !administers(context.state, visitor.user.id, installation.accountId)) {
    throw new Refusal(404, 'There is no such installation, or you do not administer its account.')
  }
  return { installation, app }
}

/** The permissions that the App requests and does not have yet, with the button that grants them. */
function pendingRequest({ visitor }: PageCall, { installation, app }: Subject): Html | undefined {
  const pending = Object.entries(pendingPermissions(app, installation))
  if (pending.length === 0) return undefined
  return html`<h2>Permission updates requested</h2><ul>${pending.map(([name, level]) => html`<li>${name}: ${level}</li>`)}</ul>
${buttonForm(visitor, `/settings/installations/${installation.id}/permissions`, 'Accept new permissions')}`
}

function accept(call: PageCall): PageResult {
  const { installation, app } = subjectOf(call)
  acceptPermissions(call.context, app, installation, call.visitor.user.id)
  return { redirect: `/settings/installations/${installation.id}` }
}

function settings(call: PageCall): PageResult {
  const { context, visitor } = call
  const { installation, app } = subjectOf(call)
  const at = `/settings/installations/${installation.id}`
  const suspended = installation.suspendedAt !== null
  return page(
    `${app.name} on ${accountLogin(context, installation.accountId)}`,
    visitor,
    html`<p>Installation ${installation.id}${suspended ? html`, <strong>suspended</strong>` : ''}.</p>
<form method="post" action="${at}/repositories">${formToken(visitor)}${repositoryChoice(repositoriesOf(context.state, installation.accountId), installation)}<button>Save</button></form>
${pendingRequest(call, { installation, app })}<h2>Danger zone</h2><p>${buttonForm(visitor, `${at}/suspended`, suspended ? 'Unsuspend' : 'Suspend', { fields: { suspended: suspended ? '0' : '1' }, look: 'danger' })}
${buttonForm(visitor, `${at}/uninstall`, 'Uninstall', { look: 'danger' })}</p>`,
  )
}

function changeRepositories(call: PageCall): PageResult {
  const { installation, app } = subjectOf(call)
  selectRepositories(call.context, installation, call.visitor.user.id, selectionOf(call.posted))
  if (!app.setupOnUpdate) return { redirect: `/settings/installations/${installation.id}` }
  return { redirect: afterInstall(call.context, app, { installation_id: String(installation.id), setup_action: 'update' }) }
}

function suspend(call: PageCall): PageResult {
  const { installation } = subjectOf(call)
  setSuspended(call.context, installation, call.visitor.user.id, call.posted.one('suspended') === '1')
  return { redirect: `/settings/installations/${installation.id}` }
}

function uninstall(call: PageCall): PageResult {
  const { installation } = subjectOf(call)
  const account = accountById(call.context.state, installation.accountId)
  uninstallApp(call.context, installation, call.visitor.user.id)
  return { redirect: `/${account?.login ?? ''}` }
}

function requestOf({ context, params, visitor }: PageCall): InstallationRequest {
  const request = context.state.installationRequests.find(one => String(one.id) === params['id'])
  if (!request || !administers(context.state, visitor.user.id, request.accountId)) {
    throw new Refusal(404, 'There is no such request, or you do not administer its account.')
  }
  return request
}

function approve(call: PageCall): PageResult {
  const request = requestOf(call)
  const app = appById(call.context.state, request.appId)
  if (!app) throw new Refusal(404, 'The App of this request no longer exists.')
  const installation = installApp(call.context, app, { ...request, installerId: call.visitor.user.id })
  return { redirect: afterInstall(call.context, app, { installation_id: String(installation.id), setup_action: 'install' }) }
}

function deny(call: PageCall): PageResult {
  const request = requestOf(call)
  dropInstallationRequest(call.context, request.id)
  return { redirect: `/${accountLogin(call.context, request.accountId)}` }
}

export function registerInstallationSettings(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/settings/installations/:id', settings)
  pages.get('/organizations/:organization/settings/installations/:id', settings)
  pages.post('/settings/installations/:id/repositories', changeRepositories)
  pages.post('/settings/installations/:id/permissions', accept)
  pages.post('/settings/installations/:id/suspended', suspend)
  pages.post('/settings/installations/:id/uninstall', uninstall)
  pages.post('/settings/installation-requests/:id/approve', approve)
  pages.post('/settings/installation-requests/:id/deny', deny)
}
