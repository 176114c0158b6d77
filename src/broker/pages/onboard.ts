// The pages of onboarding: choose an account, choose the developers' teams, wait for an owner. Pure.
import { type Html, html } from '../../web/html.ts'
import type { Candidate } from '../onboarding/candidates.ts'
import type { OnboardingIntent } from '../onboarding/intent.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'

function accountForm(person: Person, account: Candidate): Html {
  if (!account.administers) return html`Only its owners can bring it here.`
  return html`<form method="post" action="/onboard/installed">${formSecret(person)}
<input type="hidden" name="installation_id" value="${account.installationId}"><button>Continue with ${account.login}</button></form>`
}

export function chooseAccountPage(person: Person, accounts: readonly Candidate[]): Html {
  const rows = accounts.map(
    account =>
      html`<tr><th scope="row">${account.login}</th><td>${account.type === 'User' ? 'user account' : 'organisation'}</td><td>${accountForm(person, account)}</td></tr>`,
  )
  const installed =
    accounts.length === 0 ? undefined : html`<h2>Accounts that have the App</h2><table><tbody>${rows}</tbody></table>`
  return page({
    title: 'Bring an account',
    person,
    body: html`<p>Install our GitHub App on your organisation, or on your own account, and say which repositories it may see.
What it may do in them is decided grant by grant.</p>
<form method="post" action="/onboard">${formSecret(person)}<button>Install the App on GitHub</button></form>
${installed}`,
  })
}

export type TeamChoice = { readonly id: number; readonly name: string; readonly slug: string }

export function confirmPage(person: Person, onboardingId: string, intent: OnboardingIntent, teams: readonly TeamChoice[]): Html {
  const { account, ceiling } = intent
  const permissions = Object.entries(ceiling?.permissions ?? {}).map(([name, level]) => html`<li>${name}: ${level}</li>`)
  const count = ceiling?.repositoryIds?.length ?? 0
  const repositories =
    ceiling?.repositories === 'All' ? 'all repositories' : `${count} selected ${count === 1 ? 'repository' : 'repositories'}`
  const choice =
    account.type === 'User'
      ? html`<p>You alone will work in this tenant.</p>`
      : html`<p>Owners of ${account.login} administer the tenant; its members may look.</p>
<fieldset><legend>Teams whose members may deploy (developers)</legend>
${teams.length === 0 ? html`<p>${account.login} has no teams yet; add the role later.</p>` : teams.map(team => html`<label><input type="checkbox" name="team" value="${team.id}"> ${team.name} <span class="fine">(${team.slug})</span></label>`)}
</fieldset>`
  return page({
    title: `Bring ${account.login}`,
    person,
    body: html`<form method="post" action="/onboard/confirm">${formSecret(person)}<input type="hidden" name="onboarding" value="${onboardingId}">
${choice}
<p>Grants in this tenant can never reach more than ${repositories} with:</p><ul>${permissions}</ul>
<button>Create the tenant</button></form>`,
  })
}

export function waitingPage(person: Person): Html {
  return page({
    title: 'An owner was asked',
    person,
    body: html`<p>GitHub has asked the owners of the organisation to install the App. When one of them has, an owner finishes
here under <a href="/onboard">Bring an account</a>.</p>`,
  })
}

export function preparingPage(person: Person, login: string): Html {
  return page({
    title: `Preparing ${login}`,
    person,
    refreshSeconds: 2,
    body: html`<p role="status">The tenant is being made. This page goes on by itself.</p>`,
  })
}
