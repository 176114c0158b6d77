// The page on which a person sees the Apps that may act for them and revokes an authorization.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { revokeGrant } from '../actions/user-tokens.ts'
import { appById } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { html } from './html.ts'
import { buttonForm, page } from './layout.ts'

function list({ context, visitor }: PageCall): PageResult {
  const mine = context.state.authorizations.filter(one => one.userId === visitor.user.id)
  const items = mine.map(one => {
    const app = appById(context.state, one.appId)
    return html`<li>${app?.name} since ${one.createdAt} ${buttonForm(visitor, `/settings/apps/authorizations/${one.appId}/revoke`, `Revoke ${app?.slug ?? ''}`, { look: 'danger' })}</li>`
  })
  return page('Authorized GitHub Apps', visitor, mine.length === 0 ? html`<p>None.</p>` : html`<ul>${items}</ul>`)
}

function revoke({ context, visitor, params }: PageCall): PageResult {
  const id = params['id'] ?? ''
  const app = /^\d{1,15}$/.test(id) ? appById(context.state, Number(id)) : undefined
  if (!app || !revokeGrant(context, app, visitor.user.id)) throw new Refusal(404, 'You have not authorized this App.')
  return { redirect: '/settings/apps/authorizations' }
}

export function registerAuthorizationPages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/settings/apps/authorizations', list)
  pages.post('/settings/apps/authorizations/:id/revoke', revoke)
}
