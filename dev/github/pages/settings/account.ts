// The page on which a person renames themselves or one of their organizations.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../../actions/context.ts'
import { renameAccount } from '../../actions/people/rename-account.ts'
import { administers } from '../../state/access.ts'
import type { Account } from '../../state/accounts.ts'
import { organizationByLogin } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from '../browser.ts'
import { html } from '../html.ts'
import { formToken, page } from '../layout.ts'

/** The organization of the path, or the person themselves. */
function accountOf({ context, params, visitor }: PageCall): Account {
  const login = params['organization']
  const account = login === undefined ? visitor.user : organizationByLogin(context.state, login)
  if (!account || !administers(context.state, visitor.user.id, account.id)) {
    throw new Refusal(404, 'There is no such organization, or you do not own it.')
  }
  return account
}

function addressOf(account: Account): string {
  return account.kind === 'organization' ? `/organizations/${account.login}/settings/profile` : '/settings/admin'
}

function show(call: PageCall): PageResult {
  const account = accountOf(call)
  const label = account.kind === 'organization' ? 'Rename organization' : 'Change username'
  return page(
    `Settings of ${account.login}`,
    call.visitor,
    html`<form method="post" action="${addressOf(account)}/rename">${formToken(call.visitor)}
<p><label>Name <input name="login" value="${account.login}" required maxlength="39"></label> <button class="danger">${label}</button></p></form>
<p>Your repositories can be found under the old name until another account takes it.</p>`,
  )
}

function rename(call: PageCall): PageResult {
  const account = accountOf(call)
  renameAccount(call.context, account, call.visitor.user, call.posted.one('login') ?? '')
  return { redirect: addressOf(account) }
}

export function registerAccountSettings(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  for (const root of ['/settings/admin', '/organizations/:organization/settings/profile']) {
    pages.get(root, show)
    pages.post(`${root}/rename`, rename)
  }
}
