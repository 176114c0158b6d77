// The App's public page and the steps of an installation: choose the account, choose the repositories, return to the application.
// An owner installs; the attempt of a member becomes a request to the owners.
// https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/about-the-setup-url
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { installApp, requestInstallation } from '../actions/install-app.ts'
import { issueCode, rememberConsent } from '../actions/user-tokens.ts'
import { administers, membershipOf } from '../state/access.ts'
import type { Account, User } from '../state/accounts.ts'
import type { App } from '../state/apps.ts'
import { accountById, appBySlug, installationOf, repositoriesOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { type Html, html } from './html.ts'
import { afterInstall, repositoryChoice, selectionOf } from './installation-forms.ts'
import { formToken, page } from './layout.ts'

function appOf({ context, params }: PageCall): App {
  const app = appBySlug(context.state, params['slug'] ?? '')
  if (!app) throw new Refusal(404, 'There is no such App.')
  return app
}

/** Accounts on which the person can install the App, or request it from the owners. */
function accountsOf({ state }: ActionContext, user: User): Account[] {
  return [user, ...state.organizations.filter(one => membershipOf(one, user.id)?.state === 'active')]
}

function accountOfCall(call: PageCall, id: string | undefined): Account {
  const account = /^\d{1,15}$/.test(id ?? '') ? accountById(call.context.state, Number(id)) : undefined
  if (!account || !accountsOf(call.context, call.visitor.user).includes(account)) {
    throw new Refusal(404, 'There is no such account, or you are not a member of it.')
  }
  return account
}

function root(context: ActionContext, app: App): string {
  return new URL(context.links.appPage(app.slug)).pathname
}

function about(call: PageCall): PageResult {
  const app = appOf(call)
  return page(
    app.name,
    call.visitor,
    html`<p>${app.description ?? ''}</p><p><a href="${root(call.context, app)}/installations/new">Install or configure</a></p>`,
  )
}

function chooseAccount(call: PageCall): PageResult {
  const { context, visitor, query } = call
  const app = appOf(call)
  const state = query.get('state')
  const rows = accountsOf(context, visitor.user).map((account): Html => {
    const existing = installationOf(context.state, app.id, account.id)
    const owner = administers(context.state, visitor.user.id, account.id)
    if (existing && owner)
      return html`<li><a href="/settings/installations/${existing.id}">Configure ${account.login}</a> (installed)</li>`
    const target = `${root(context, app)}/installations/new/permissions?target_id=${account.id}${state === null ? '' : `&state=${encodeURIComponent(state)}`}`
    return html`<li><a href="${target}">${owner ? 'Install on' : 'Request for'} ${account.login}</a></li>`
  })
  return page(`Install ${app.name}`, visitor, html`<p>Where do you want to install ${app.name}?</p><ul>${rows}</ul>`)
}

function chooseRepositories(call: PageCall): PageResult {
  const { context, visitor, query } = call
  const app = appOf(call)
  const account = accountOfCall(call, query.get('target_id') ?? undefined)
  const owner = administers(context.state, visitor.user.id, account.id)
  const existing = installationOf(context.state, app.id, account.id)
  if (existing && owner) return { redirect: `/settings/installations/${existing.id}` }
  const verb = owner ? 'Install' : 'Request'
  const permissions = Object.entries(app.permissions).map(([name, level]) => html`<li>${name}: ${level}</li>`)
  return page(
    `${verb} ${app.name} on ${account.login}`,
    visitor,
    html`<form method="post" action="${root(context, app)}/installations">${formToken(visitor)}
<input type="hidden" name="target_id" value="${account.id}"><input type="hidden" name="state" value="${query.get('state') ?? ''}">
${repositoryChoice(repositoriesOf(context.state, account.id), { repositorySelection: 'selected', repositoryIds: [] })}
<p>With these permissions:</p><ul>${permissions}</ul>${owner ? '' : html`<p>You are not an owner. Your request will be sent to the owners of ${account.login}.</p>`}
<button>${verb}</button></form>`,
  )
}

function install(call: PageCall): PageResult {
  const { context, visitor, posted } = call
  const app = appOf(call)
  const account = accountOfCall(call, posted.one('target_id'))
  const authorize = (): string | undefined => {
    const [callback] = app.callbackUrls
    if (!app.requestOAuthOnInstall || callback === undefined) return undefined
    rememberConsent(context, app.id, visitor.user.id)
    return issueCode(context, { appId: app.id, userId: visitor.user.id, redirectUri: callback, codeChallenge: null })
  }
  if (!administers(context.state, visitor.user.id, account.id)) {
    requestInstallation(context, app, { accountId: account.id, requesterId: visitor.user.id, ...selectionOf(posted) })
    // As on GitHub, the state is not kept until an owner approves.
    return { redirect: afterInstall(context, app, { setup_action: 'request', code: authorize() }) }
  }
  const installation = installApp(context, app, { accountId: account.id, installerId: visitor.user.id, ...selectionOf(posted) })
  const state = posted.one('state') || undefined
  return {
    redirect: afterInstall(context, app, {
      installation_id: String(installation.id),
      setup_action: 'install',
      code: authorize(),
      state,
    }),
  }
}

/** Registers the pages under both roots: `/github-apps` of a GitHub Enterprise Server and `/apps` of github.com. */
export function registerInstallPages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  for (const prefix of ['/github-apps', '/apps']) {
    pages.get(`${prefix}/:slug`, about)
    pages.get(`${prefix}/:slug/installations/new`, chooseAccount)
    pages.get(`${prefix}/:slug/installations/new/permissions`, chooseRepositories)
    pages.post(`${prefix}/:slug/installations`, install)
  }
}
