// Onboardings that wait, as their requester and as a platform admin see them. Pure.
import { type Html, html } from '../../web/html.ts'
import type { OnboardingRecord } from '../onboarding/onboarding-records.ts'
import { isWaiting } from '../onboarding/onboarding-requests.ts'
import type { Person } from '../sessions.ts'
import { formSecret, page } from './layout.ts'

type State = OnboardingRecord['state']

const texts: Readonly<Record<State, string>> = {
  'waiting-for-approval': 'waiting for an owner of the organisation, whom GitHub has asked to install the App',
  'needs-owner': 'waiting for an owner of the organisation',
  proved: 'waiting for you: choose teams and confirm',
  'waiting-for-admin': 'waiting for a platform admin, who approves accounts that are new here',
  confirmed: 'being created',
  'tenant-written': 'being created',
  'installation-written': 'being created',
  finished: 'finished',
  refused: 'refused',
  abandoned: 'ended',
}

/** One sentence: what an onboarding waits for, or how it ended, and what to do. */
export function stateText({ state, note }: Pick<OnboardingRecord, 'state' | 'note'>): string {
  return note === undefined ? texts[state] : `${texts[state]}: ${note}`
}

function accountOf({ intent, accountId }: OnboardingRecord): string {
  return accountId === 0 ? 'an organisation' : intent.account.login
}

function ownRow(person: Person, record: OnboardingRecord): Html {
  const next =
    record.state === 'proved'
      ? html`<a href="/onboard/confirm?onboarding=${record.id}">Continue</a>`
      : record.state === 'waiting-for-admin'
        ? html`<a href="/onboard/progress?onboarding=${record.id}">Show</a>`
        : undefined
  const withdraw = isWaiting(record)
    ? html`<form method="post" action="/onboard/withdraw" class="inline">${formSecret(person)}
<input type="hidden" name="onboarding" value="${record.id}"><button class="quiet">Withdraw</button></form>`
    : undefined
  return html`<tr><th scope="row">${accountOf(record)}</th><td>${stateText(record)}</td><td>${next} ${withdraw}</td></tr>`
}

/** The person's onboardings that wait or that ended without a tenant; undefined without any. */
export function ownOnboardings(person: Person, records: readonly OnboardingRecord[]): Html | undefined {
  const shown = records.filter(record => isWaiting(record) || record.state === 'refused' || record.note !== undefined)
  if (shown.length === 0) return undefined
  return html`<h2>Your onboardings</h2><table><tbody>${shown.map(record => ownRow(person, record))}</tbody></table>`
}

/** While a platform admin has to decide, and after an onboarding ended without a tenant. */
export function onboardingStatePage(person: Person, record: OnboardingRecord): Html {
  const waits = record.state === 'waiting-for-admin'
  const login = accountOf(record)
  return page({
    title: waits ? `${login} waits for a platform admin` : `${login} was not onboarded`,
    person,
    ...(waits ? { refreshSeconds: 30 } : {}),
    body: waits
      ? html`<p role="status">You proved to administer ${login}. The account is new on this platform, so a platform admin has to approve it; then
the tenant is created. You can close this page: <a href="/onboard">your onboardings</a> shows the state.</p>`
      : html`<p role="alert">The onboarding is ${stateText(record)}.</p><p><a href="/onboard">Begin again</a></p>`,
  })
}

function repositoriesOf({ intent }: OnboardingRecord): string {
  const { ceiling } = intent
  if (ceiling === undefined) return ''
  return ceiling.repositories === 'All' ? 'all' : String(ceiling.repositoryIds?.length ?? 0)
}

function decisionRow(person: Person, record: OnboardingRecord): Html {
  const { id, intent, updatedAt } = record
  const { account, boundBy } = intent
  const hidden = html`${formSecret(person)}<input type="hidden" name="onboarding" value="${id}">`
  return html`<tr><th scope="row">${account.login} <span class="fine">(${account.type}, id ${account.id})</span></th>
<td>${boundBy.login} <span class="fine">(id ${boundBy.id})</span></td><td>${updatedAt.toISOString()}</td><td>${repositoriesOf(record)}</td>
<td><form method="post" action="/onboardings/approve" class="inline">${hidden}<button>Approve</button></form>
<form method="post" action="/onboardings/refuse" class="inline">${hidden}<label>Reason <input type="text" name="reason" maxlength="200"></label>
<button class="quiet">Refuse</button></form></td></tr>`
}

/** For platform admins. `records` oldest first. */
export function decisionsPage(person: Person, records: readonly OnboardingRecord[]): Html {
  const list =
    records.length === 0
      ? html`<p>No onboarding waits for a platform admin.</p>`
      : html`<table><thead><tr><th scope="col">Account</th><th scope="col">Requested by</th><th scope="col">Since</th><th scope="col">Repositories</th><th scope="col">Decision</th></tr></thead>
<tbody>${records.map(record => decisionRow(person, record))}</tbody></table>`
  return page({
    title: 'Onboardings to decide',
    person,
    body: html`<p>Owners of these GitHub accounts asked for a tenant, and the accounts are not listed in <code>SEKISHO_ACCOUNTS</code>. An approval
proves again that the person administers the account, and then creates the tenant.</p>${list}`,
  })
}
