// Grants that wait for people: on the page of a tenant which they are, on a page of their own everything that somebody needs who
// answers, with the form. Pure. The form has the UID of the grant that the person sees: another one of the name makes it a
// refusal, never the approval of something else. Names and reasons are texts of others: escaped and cut.
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import { permissionsText, subjectsText } from '../../../api/github/repository-grant/access-text.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { type Html, html } from '../../../web/html.ts'
import type { ApprovalLifetime } from '../../grants/answer-grant.ts'
import type { GrantsView, WaitingGrant } from '../../grants/visible-grants.ts'
import type { Person } from '../../sessions.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { formSecret, page } from '../layout.ts'
import { signed } from '../state/sign.ts'
import { facts, shortText, table, time, whole } from '../table.ts'
import { type Place, section, tenantPath } from './sections.ts'

/** Where the form of a grant leads. */
export const grantsPath = (namespace: string): string => `${tenantPath(namespace)}/grants`

/** What somebody wrote: it breaks wherever it must. */
const written = (text: string, most?: number): Html => html`<span class="any">${shortText(text, most)}</span>`

/** With the ids that people are asked about, which no rename on GitHub changes. */
function repositories({ spec, status }: RepositoryGrant): Html {
  const known = status?.requestedRepositories ?? status?.repositories
  if (known === undefined) return written(spec.repositories.join(', '))
  return html`<ul>${known.map(({ id, name }) => html`<li>${whole(name)} (id ${id})</li>`)}</ul>`
}

const deliveries: Readonly<Record<RepositoryGrant['spec']['delivery'], string>> = {
  TokenEndpoint: 'TokenEndpoint: its pods get a token of GitHub',
  GitProxy: 'GitProxy: its pods clone, fetch and push through the platform, and get no token',
  Secret: 'Secret: a token of GitHub is kept in a Secret, to which only its pods may refer',
}

function countText({ status }: RepositoryGrant): string {
  const { required, given } = status?.approvals ?? {}
  if (required === undefined || given === undefined) return 'not counted yet'
  return `${given} of ${required}, ${required - given} missing`
}

function deliveryText({ spec }: RepositoryGrant): Html {
  const refs = spec.git && html`; a push may change ${written(spec.git.refs.join(', '), 500)}`
  return html`${deliveries[spec.delivery]}${refs}`
}

/** The login for people, the subject for what decides. */
function personText(subject: string, login: string | undefined): Html {
  return login === undefined ? whole(subject) : html`<strong>${login}</strong> (${whole(subject)})`
}

type Options = { readonly person: Person; readonly namespace: string; readonly view: GrantsView }

function answerItem({ spec, status }: GrantApproval, { view }: Options): Html {
  const ready = findCondition(status?.conditions, 'Ready')
  const [of, word] = spec.answer === 'Approve' ? (['ready', 'approves'] as const) : (['failed', 'denies'] as const)
  const counts =
    ready?.status === 'False' ? html` <span class="fine">Does not count: ${shortText(ready.message)}</span>` : undefined
  const opened = spec.breakGlass === true ? ' by break-glass' : ''
  return html`<li>${personText(spec.requestedBy, view.logins.get(spec.requestedBy))} ${signed(of, word)}${opened}: ${written(spec.reason)}${counts}</li>`
}

function answers({ answers: given }: WaitingGrant, options: Options): Html | string {
  if (given === undefined) return 'You may not see the answers (list on grantapprovals).'
  if (given.length === 0) return 'nobody yet'
  return html`<ul>${given.slice(0, 20).map(answer => answerItem(answer, options))}</ul>`
}

const lifetimes: readonly (readonly [ApprovalLifetime, string])[] = [
  ['hour', 'an hour'],
  ['day', 'a day'],
  ['week', 'a week'],
  ['month', '30 days'],
]

/** Neither answer is chosen beforehand: the key Enter alone answers nothing. */
function answerForm({ person, namespace }: Options, { metadata: { name, uid = '' } }: RepositoryGrant): Html {
  return html`<form method="post" action="${grantsPath(namespace)}/answer">${formSecret(person)}
<input type="hidden" name="grant" value="${name}"><input type="hidden" name="uid" value="${uid}">
<p><label>Why, for the audit log and whoever reads it
<input type="text" name="reason" required minlength="3" maxlength="500" autocomplete="off"></label></p>
<fieldset><legend>Your answer</legend>
<label><input type="radio" name="answer" value="Approve" required> Approve it</label>
<label><input type="radio" name="answer" value="Deny"> Deny it: it stays denied until you take that back</label></fieldset>
<p><label>An approval counts for <select name="lifetime">${lifetimes.map(([value, text]) => html`<option value="${value}"${value === 'month' && html` selected`}>${text}</option>`)}</select></label></p>
<button aria-label="Answer for ${name}">Answer for ${shortText(name, 24)}</button></form>`
}

/** Why there is no form. */
function hindrance({ person, view }: Options, { spec }: RepositoryGrant): string | undefined {
  if (!view.mayAnswer) return 'An admin of the tenant who did not request it answers.'
  if (spec.requestedBy === person.subject)
    return 'You requested it: another admin of the tenant has to answer. If it is not needed any more, delete it.'
  return undefined
}

function grantSection(waiting: WaitingGrant, options: Options): Html {
  const { grant } = waiting
  const { metadata, spec, status } = grant
  const { name } = metadata
  const login = status?.requester?.login ?? options.view.logins.get(spec.requestedBy)
  const rows = [
    ['What', permissionsText(grant.spec.permissions)],
    ['On', repositories(grant)],
    ['For', written(subjectsText(grant.spec.subjects), 500)],
    ['Delivered by', deliveryText(grant)],
    ['Requested by', personText(spec.requestedBy, login)],
    ['Because', written(spec.reason, 500)],
    ['Since', time(metadata.creationTimestamp ?? '')],
    ['Asked by the rule', html`<code>${status?.rule ?? ''}</code>`],
    ['Approvals', countText(grant)],
    ['Answers', answers(waiting, options)],
    ['UID', html`<code>${metadata.uid ?? ''}</code>`],
  ] as const
  const why = hindrance(options, grant)
  return section(
    `grant-${name}`,
    name,
    html`${facts(rows, 'What is asked, and who has answered.')}
${why === undefined ? answerForm(options, grant) : html`<p class="fine">${why}</p>`}`,
  )
}

/** `/tenants/:namespace/grants`. It does not refresh itself: nobody loses what they write, nothing changes under the button. */
export function grantsPage(options: Options): Html {
  const { person, namespace, view } = options
  const { items, more } = view.waiting
  const none = html`<p>No grant waits for approval.</p>`
  const others = html`<p class="fine">There are more: <code>sekisho grants list --waiting --namespace ${namespace}</code></p>`
  return page({
    title: `Grants that wait in ${namespace}`,
    person,
    body: html`<p><a href="${tenantPath(namespace)}">Everything of this tenant</a></p>
<p>A policy wants people to look at these before any token exists. An answer is for the grant that is shown, counts while it exists, and is taken back with <code>sekisho grants withdraw</code>. Whoever denies ends the grant until they take that back.</p>
${items.length === 0 ? none : items.map(waiting => grantSection(waiting, options))}${more ? others : undefined}`,
  })
}

/** Which grants wait, on the page of the tenant. */
export function waitingGrantsSection({ namespace }: Place, { waitingGrants, access }: TenantView): Html | undefined {
  if (waitingGrants === undefined || waitingGrants.items.length === 0) return undefined
  const list = table({
    caption: 'Access to repositories that a policy leaves to people. No token exists before they have approved it.',
    columns: ['Grant', 'What', 'On', 'For', 'Approvals'],
    rows: waitingGrants.items.map(grant => [
      whole(grant.metadata.name),
      permissionsText(grant.spec.permissions),
      written(grant.spec.repositories.join(', ')),
      written(subjectsText(grant.spec.subjects)),
      countText(grant),
    ]),
  })
  const link = html`<p><a href="${grantsPath(namespace)}">${access.answerGrants ? 'Look at them and answer' : 'Look at them'}</a>${waitingGrants.more && ' (there are more)'}</p>`
  return section('waiting-grants', 'Grants that wait for approval', html`${list}${link}`)
}
