// `/tenants/:namespace/roles`: who has which role in a tenant, and for owners of the account a form for each row. Pure. Each form
// carries the version that was shown, so that nothing is changed that somebody else has changed since.
import { type Html, html } from '../../../web/html.ts'
import type { RolesView } from '../../owners/change-roles.ts'
import type { Role, Team } from '../../owners/role-changes.ts'
import type { TenantRole } from '../../people/tenant-access.ts'
import type { Person } from '../../sessions.ts'
import { formSecret, page } from '../layout.ts'
import { signed } from '../state/sign.ts'
import { shortText, table, whole } from '../table.ts'
import { tenantPath } from './sections.ts'

type Options = { readonly person: Person; readonly view: RolesView }

const rolesByRank: readonly TenantRole[] = ['admin', 'developer', 'viewer', 'auditor']
const texts: Readonly<Record<TenantRole, string>> = {
  viewer: 'sees everything but secrets',
  developer: 'also deploys',
  auditor: 'reads the audit log and what decides about access',
  admin: 'also approves grants, halts, and reads the audit log',
}

function subjectCell({ subject }: Role, { tenant, teams, owner }: RolesView): Html {
  const { login } = tenant.spec.account
  if (subject.type === 'Owners') return html`Owners of ${login}`
  if (subject.type === 'Members') return html`Members of ${login}`
  if (subject.type === 'User') return html`${whole(subject.name ?? `user ${subject.id}`)} <span class="fine">(a person)</span>`
  const team = teams.find(({ id }) => id === subject.id)
  const name = html`Team ${whole(team?.name ?? subject.name ?? String(subject.id))}`
  if (team !== undefined) return html`${name} <span class="fine">(${team.slug})</span>`
  return owner === 'yes' ? html`${name} ${signed('failed', 'gone on GitHub')}` : name
}

function hiddenFields({ person, view }: Options): Html {
  const { uid = '', generation = 0 } = view.tenant.metadata
  return html`${formSecret(person)}<input type="hidden" name="uid" value="${uid}"><input type="hidden" name="generation" value="${generation}">`
}

function roleOptions(roles: readonly (TenantRole | 'none')[], present: TenantRole | undefined): Html {
  return html`${roles.map(role => html`<option value="${role}"${role === present && html` selected`}>${role === 'none' ? 'no role' : role}</option>`)}`
}

function changeForm(options: Options, { role, subject }: Role, name: string): Html | undefined {
  const { view } = options
  if (subject.type !== 'Team' && subject.type !== 'Members') return undefined
  const isGone = subject.type === 'Team' && !view.teams.some(({ id }) => id === subject.id)
  const team = subject.type === 'Team' ? html`<input type="hidden" name="team" value="${subject.id}">` : undefined
  const hidden = html`${hiddenFields(options)}${team}`
  const action = `${tenantPath(view.tenant.spec.namespace)}/roles`
  if (isGone)
    return html`<form method="post" action="${action}" class="inline">${hidden}<input type="hidden" name="role" value="none"><button class="quiet">Take away<span class="spoken"> the role of ${name}</span></button></form>`
  const roles: readonly (TenantRole | 'none')[] = subject.type === 'Members' ? ['developer', 'viewer'] : rolesByRank
  return html`<form method="post" action="${action}" class="inline">${hidden}<label><span class="spoken">Role of ${name}</span>
<select name="role">${roleOptions([...roles, 'none'], role)}</select></label> <button class="quiet">Change<span class="spoken"> the role of ${name}</span></button></form>`
}

/** One row for each subject, with its highest role: a team may stand there twice. */
function highestRoles(roles: readonly Role[]): readonly Role[] {
  const keyOf = ({ subject }: Role): string => `${subject.type} ${subject.id ?? ''}`
  const ranked = roles.toSorted((a, b) => rolesByRank.indexOf(a.role) - rolesByRank.indexOf(b.role))
  const highest = new Map(ranked.toReversed().map(role => [keyOf(role), role]))
  return [...new Set(roles.map(keyOf))].flatMap(key => highest.get(key) ?? [])
}

/** Every role of the subject: one that is changed replaces all of them. */
function rolesLike({ subject }: Role, roles: readonly Role[]): string {
  const like = roles.filter(({ subject: { type, id } }) => type === subject.type && id === subject.id)
  return like.map(({ role }) => role).join(', ')
}

function nameOf({ subject }: Role, teams: readonly Team[]): string {
  if (subject.type === 'Members') return 'all members'
  return `team ${teams.find(({ id }) => id === subject.id)?.name ?? subject.name ?? subject.id}`
}

function addForms(options: Options): Html | undefined {
  const { tenant, teams } = options.view
  const { account, roles, namespace } = tenant.spec
  if (account.type !== 'Organization') return undefined
  const action = `${tenantPath(namespace)}/roles`
  const has = (type: string, id?: number) => roles.some(({ subject }) => subject.type === type && subject.id === id)
  const others = teams.filter(({ id }) => !has('Team', id))
  const members = has('Members')
    ? undefined
    : html`<h2>Give all members a role</h2><form method="post" action="${action}" class="inline">${hiddenFields(options)}<label>Role <select name="role">${roleOptions(['viewer', 'developer'], undefined)}</select></label> <button>Give all members the role</button></form>`
  const team = html`<h2>Give a team a role</h2>
<form method="post" action="${action}" class="inline">${hiddenFields(options)}
<label>Team <select name="team">${others.map(({ id, name, slug }) => html`<option value="${id}">${name} (${slug})</option>`)}</select></label>
<label>Role <select name="role">${roleOptions(rolesByRank.toReversed(), undefined)}</select></label> <button>Give the role</button></form>`
  const none = html`<p class="fine">${teams.length === 0 ? `${account.login} has no teams on GitHub yet.` : 'Every team has a role.'}</p>`
  return html`${members}${others.length === 0 ? none : team}`
}

/** Why there are no forms; undefined for an owner who can change something. */
function withoutForms({ tenant, owner, lock }: RolesView): Html | undefined {
  const { login } = tenant.spec.account
  if (owner === 'unknown')
    return html`<p role="alert">GitHub does not answer at the moment, so nobody can change roles here. Load the page again.</p>`
  if (owner === 'no') return html`<p>Owners of ${login} on GitHub change the roles here.</p>`
  return lock && html`<p role="alert">${shortText(lock.message)}.</p>`
}

/** The page. */
export function rolesPage(options: Options): Html {
  const { person, view } = options
  const { tenant } = view
  const { roles, namespace } = tenant.spec
  const note = withoutForms(view)
  const mayChange = note === undefined
  const rows = highestRoles(roles).map(role => [
    subjectCell(role, view),
    html`${rolesLike(role, roles)} <span class="fine">${texts[role.role]}</span>`,
    ...(mayChange ? [changeForm(options, role, nameOf(role, view.teams))] : []),
  ])
  const columns = ['Who', 'Role', ...(mayChange ? ['Change'] : [])]
  const list =
    rows.length === 0
      ? html`<p>Nobody has a role in this tenant.</p>`
      : table({ caption: 'Who has which role in the namespace. Changes are in the audit log.', columns, rows })
  return page({
    title: `Roles of ${tenant.metadata.name}`,
    person,
    body: html`<p><a href="${tenantPath(namespace)}">Everything of this tenant</a></p>${note}${list}
${mayChange && addForms(options)}
${view.owner === 'yes' && html`<h2>End the tenant</h2><p><a href="${tenantPath(namespace)}/offboard">See what would end</a>, and end it there.</p>`}`,
  })
}
