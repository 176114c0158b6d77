// The start page and the pages of users and organizations: repositories, members, teams, installations and requests.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { createRepository } from '../actions/create-repository.ts'
import { administers, canSee, membershipOf, permissionOnOrganization } from '../state/access.ts'
import type { Account, Organization, Team, User } from '../state/accounts.ts'
import {
  accountByLogin,
  appById,
  organizationByLogin,
  repositoriesOf,
  repositoryById,
  teamBySlug,
  userOf,
} from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { type Html, html } from './html.ts'
import { buttonForm, formToken, page, table } from './layout.ts'

function home(call: PageCall): PageResult {
  const { context, visitor } = call
  const mine = context.state.organizations.filter(one => membershipOf(one, visitor.user.id)?.state === 'active')
  const apps = context.state.apps.map(
    app => html`<li><a href="${new URL(context.links.appPage(app.slug)).pathname}">${app.name}</a></li>`,
  )
  return page(
    `Hello ${visitor.user.login}`,
    visitor,
    html`<h2>Your accounts</h2><ul>${[visitor.user, ...mine].map(one => html`<li><a href="/${one.login}">${one.login}</a></li>`)}</ul>
<h2>Apps</h2><ul>${apps}</ul><p><a href="/settings/apps/authorizations">Authorized GitHub Apps</a>, <a href="/settings/admin">Account settings</a></p>`,
  )
}

function repositoryList({ context, visitor }: PageCall, account: Account): Html {
  const seen = repositoriesOf(context.state, account.id).filter(one =>
    canSee(context.state, { kind: 'person', user: visitor.user }, one),
  )
  return html`<h2>Repositories</h2><ul>${seen.map(
    one => html`<li><a href="/${account.login}/${one.name}">${one.name}</a>${one.private ? ' (private)' : ''}</li>`,
  )}</ul>`
}

function newRepository({ context, visitor }: PageCall, account: Account): Html | undefined {
  if (!mayMakeRepositories(context, visitor.user, account)) return undefined
  return html`<form method="post" action="/organizations/${account.login}/repositories">${formToken(visitor)}<p><label>New repository <input name="name" required></label>
<label><input type="checkbox" name="private" value="1" checked> private</label> <button class="quiet">Create repository</button></p></form>`
}

function mayMakeRepositories({ state }: ActionContext, user: User, account: Account): boolean {
  if (account.kind !== 'organization') return account.id === user.id
  return permissionOnOrganization(state, { kind: 'person', user }, account, 'administration') === 'write'
}

async function makeRepository({ context, params, visitor, posted }: PageCall): Promise<PageResult> {
  const found = accountByLogin(context.state, params['owner'] ?? '')
  if (!found || !mayMakeRepositories(context, visitor.user, found)) throw new Refusal(403, 'You may not make repositories there.')
  const wanted = { name: posted.one('name') ?? '', description: null, private: posted.one('private') === '1', withReadme: false }
  const { name } = await createRepository(context, found, visitor.user, wanted)
  return { redirect: `/${found.login}/${name}` }
}

function installations({ context, visitor }: PageCall, account: Account): Html | undefined {
  if (!administers(context.state, visitor.user.id, account.id)) return undefined
  const nameOf = (appId: number): string => appById(context.state, appId)?.name ?? ''
  const installed = context.state.installations.filter(one => one.accountId === account.id)
  const asked = context.state.installationRequests.filter(one => one.accountId === account.id)
  return html`<h2>Installed Apps</h2><ul>${installed.map(
    one => html`<li>${nameOf(one.appId)} <a href="/settings/installations/${one.id}">Configure</a></li>`,
  )}</ul><h2>Requests</h2><ul>${asked.map(
    one => html`<li>${userOf(context.state, one.requesterId).login} requests ${nameOf(one.appId)}
${buttonForm(visitor, `/settings/installation-requests/${one.id}/approve`, 'Approve and install')}
${buttonForm(visitor, `/settings/installation-requests/${one.id}/deny`, 'Deny', { look: 'danger' })}</li>`,
  )}</ul>`
}

function members({ context }: PageCall, organization: Organization): Html {
  const rows = organization.memberships.map(one => [userOf(context.state, one.userId).login, one.role, one.state])
  const teams = context.state.teams.filter(team => team.organizationId === organization.id)
  return html`<h2>Members</h2>${table(['Person', 'Role', 'State'], rows)}<h2>Teams</h2><ul>${teams.map(
    team => html`<li><a href="/orgs/${organization.login}/teams/${team.slug}">${team.name}</a></li>`,
  )}</ul>`
}

function account(call: PageCall): PageResult {
  const { context, params, visitor } = call
  const found = accountByLogin(context.state, params['owner'] ?? '')
  if (!found) throw new Refusal(404, 'There is no such account.')
  const inside = found.kind === 'organization' && membershipOf(found, visitor.user.id)?.state === 'active'
  const content = [
    repositoryList(call, found),
    newRepository(call, found),
    inside ? members(call, found) : undefined,
    installations(call, found),
  ]
  return page(found.login, visitor, content)
}

function teamPage(call: PageCall): PageResult {
  const { context, params, visitor } = call
  const organization = organizationByLogin(context.state, params['organization'] ?? '')
  const team: Team | undefined = organization && teamBySlug(context.state, organization.id, params['team'] ?? '')
  if (!organization || !team || membershipOf(organization, visitor.user.id)?.state !== 'active') {
    throw new Refusal(404, 'There is no such team, or you are not a member of its organization.')
  }
  const people = team.members.map(one => [userOf(context.state, one.userId).login, one.role])
  const repositories = team.repositories.map(one => [repositoryById(context.state, one.repositoryId)?.name ?? '', one.role])
  const parent = context.state.teams.find(one => one.id === team.parentId)
  return page(
    `${organization.login} / ${team.name}`,
    visitor,
    html`${parent ? html`<p>Part of ${parent.name}.</p>` : undefined}<h2>Members</h2>${table(['Person', 'Role'], people)}
<h2>Repositories</h2>${table(['Repository', 'Role'], repositories)}`,
  )
}

export function registerOrganizationPages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/', home)
  pages.get('/:owner', account)
  pages.post('/organizations/:owner/repositories', makeRepository)
  pages.get('/orgs/:organization/teams/:team', teamPage)
}
