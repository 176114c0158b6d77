// The pages of onboarding: choose an account, choose the developers' teams, wait for an owner, wait for the tenant. Pure.
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { type Html, html } from '../../web/html.ts'
import type { Candidate } from '../onboarding/candidates.ts'
import type { Ceiling } from '../onboarding/ceiling.ts'
import type { OnboardingRecord, ProvedIntent } from '../onboarding/onboarding-records.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'
import { ownOnboardings } from './requests.ts'

function accountForm(person: Person, account: Candidate, namespace: string | undefined): Html {
  const has = namespace === undefined ? undefined : html`It has the tenant <a href="/tenants/${namespace}">${namespace}</a>. `
  if (!account.administers)
    return has === undefined
      ? html`Only its owners can onboard it here: ask one of them.`
      : html`${has}Its owners give you a role there.`
  return html`${has}<form method="post" action="/onboard/installed">${formSecret(person)}
<input type="hidden" name="installation_id" value="${account.installationId}"><button>Continue with ${account.login}</button></form>`
}

/**
 * `accounts` are those on which the App is installed already; `own` the person's onboardings, newest first; `namespaces` those of
 * the tenants that exist, by the installation.
 */
export function chooseAccountPage(options: {
  readonly person: Person
  readonly accounts: readonly Candidate[]
  readonly own: readonly OnboardingRecord[]
  readonly namespaces: ReadonlyMap<number, string>
}): Html {
  const { person, accounts, own, namespaces } = options
  const rows = accounts.map(
    account =>
      html`<tr><th scope="row">${account.login}</th><td>${account.type === 'User' ? 'user account' : 'organisation'}</td><td>${accountForm(person, account, namespaces.get(account.installationId))}</td></tr>`,
  )
  const installed =
    accounts.length === 0 ? undefined : html`<h2>Accounts that have the App</h2><table><tbody>${rows}</tbody></table>`
  return page({
    title: 'Onboard an account',
    person,
    body: html`<p>Install our GitHub App on your organisation or on your own account, and choose the repositories that it may access.
In the tenant, every access to a repository needs a grant of its own.</p>
<form method="post" action="/onboard">${formSecret(person)}<button>Install the App on GitHub</button></form>
${installed}
${ownOnboardings(person, own)}`,
  })
}

export type TeamChoice = { readonly id: number; readonly name: string; readonly slug: string }

function teamBox({ id, name, slug }: TeamChoice): Html {
  return html`<label><input type="checkbox" name="team" value="${id}"> ${name} <span class="fine">(${slug})</span></label>`
}

function rolesChoice(account: ProvedIntent['account'], teams: readonly TeamChoice[]): Html {
  if (account.type === 'User') return html`<p>You will be the only person with a role in this tenant.</p>`
  const choice =
    teams.length === 0 ? html`<p>${account.login} has no teams yet; add the role to the tenant later.</p>` : teams.map(teamBox)
  return html`<p>Owners of ${account.login} administer the tenant; its members can view it.</p>
<fieldset><legend>Teams whose members can deploy (role developer)</legend>
${choice}
</fieldset>`
}

/** Which repositories a ceiling has, within a sentence. */
export function repositoriesText({ repositories, repositoryIds = [] }: Ceiling): string {
  if (repositories === 'All') return 'all repositories'
  const { length } = repositoryIds
  return `${length} selected ${length === 1 ? 'repository' : 'repositories'}`
}

/** Shows the roles and the ceiling; the form carries the chosen teams. `tenant` is the one that the account has already. */
export function confirmPage(options: {
  readonly person: Person
  readonly onboardingId: string
  readonly intent: ProvedIntent
  readonly teams: readonly TeamChoice[]
  readonly tenant: Tenant | undefined
}): Html {
  const { person, onboardingId, intent, teams, tenant } = options
  const { account, ceiling } = intent
  const permissions = Object.entries(ceiling.permissions).map(([name, level]) => html`<li>${name}: ${level}</li>`)
  const { name, namespace } = { ...tenant?.metadata, ...tenant?.spec }
  const roles =
    tenant === undefined
      ? rolesChoice(account, teams)
      : html`<p>${account.login} has the tenant <a href="/tenants/${namespace}">${name}</a> already. It stays, with its roles
(<a href="/tenants/${namespace}/roles">see and change them</a>), and its Installation becomes as below.</p>`
  return page({
    title: `Onboard ${account.login}${tenant === undefined ? '' : ' again'}`,
    person,
    body: html`<form method="post" action="/onboard/confirm">${formSecret(person)}<input type="hidden" name="onboarding" value="${onboardingId}">
${roles}
<p>Grants in this tenant can never exceed ${repositoriesText(ceiling)} with these permissions:</p><ul>${permissions}</ul>
<button>${tenant === undefined ? 'Create the tenant' : 'Update the tenant'}</button></form>`,
  })
}

/** For a person who asked an owner to install the App. */
export function waitingPage(person: Person): Html {
  return page({
    title: 'An owner was asked',
    person,
    body: html`<p>GitHub has asked the owners of the organisation to install the App. After one of them has installed it, an owner continues
here under <a href="/onboard">Onboard an account</a>. Your request and what becomes of it are shown there too.</p>`,
  })
}

/** Reloads until the tenant exists. */
export function preparingPage(person: Person, login: string): Html {
  return page({
    title: `Preparing ${login}`,
    person,
    refreshSeconds: 2,
    body: html`<p role="status">The tenant is being created. This page continues by itself.</p>`,
  })
}
