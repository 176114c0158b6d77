// One tenant as one person sees it: what waits for approval, what runs, what is built, and the state of the tenant itself.
// Pure. A section is there exactly when the view has its part, which RBAC decided.
import type { Installation } from '../../../api/github/installation.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type Html, html } from '../../../web/html.ts'
import { installationName } from '../../onboarding/desired.ts'
import { isBindingOf, type OtherApp } from '../../owners/bind-app.ts'
import { isOwnerLost } from '../../owners/stand-in-checks.ts'
import type { Person } from '../../sessions.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { kubectlSteps } from '../home.ts'
import { formSecret, type Live, page } from '../layout.ts'
import { type Choice, choiceForm, isEverything } from '../state/choice.ts'
import { haltNotice } from '../state/halt-notice.ts'
import { classOfPreview, signed } from '../state/sign.ts'
import { classOfState, isMoving, readyCondition } from '../state/state.ts'
import { facts, shortText } from '../table.ts'
import { waitingGrantsSection } from './grants.ts'
import { previewsOf, previewsSection, waitingSection } from './previews.ts'
import { applicationsSection, buildsSection, type Place, remoteSyncsSection, section, tenantPath } from './sections.ts'
import { servicesSection } from './services.ts'
import { standInsPart, takeOverForm } from './stand-ins.ts'

type Options = {
  readonly person: Person
  readonly view: TenantView
  readonly issuer: string
  /** The origin of GitHub's pages. */
  readonly web: string
  readonly now: Date
  readonly choice: Choice
}

function isReady({ status }: Installation | Tenant): boolean {
  return readyCondition(status?.conditions)?.status === 'True'
}

type StateRow = readonly [name: string, state: Html, message: string]

function stateRow(name: string, object: Installation | Tenant): StateRow {
  const ready = readyCondition(object.status?.conditions)
  const { metadata, status } = object
  const word = ready?.status === 'True' ? 'Ready' : (ready?.reason ?? 'Pending')
  return [name, signed(classOfState({ metadata, ...defined({ status }) }), word), shortText(ready?.message ?? '')]
}

const pendingRow: StateRow = ['Installation', signed('progress', 'Pending'), 'waiting until the namespace is created']

/** For owners: the Apps of the pool on the account that no present owner has bound as the account is bound now. */
function bindAppForms(person: Person, { tenant, role, installations = [] }: TenantView): Html | undefined {
  const { account, namespace } = tenant.spec
  const named = installations.find(({ metadata }) => metadata.name === installationName)
  if (role !== 'admin' || named === undefined) return undefined
  const isBound = (other: OtherApp): boolean =>
    installations.some(one => isBindingOf(one, other, named.spec.ceiling) && !isOwnerLost(one))
  const open = (named.status?.otherApps ?? []).filter(other => !isBound(other))
  if (open.length === 0) return undefined
  const forms = open.map(
    ({ app }) =>
      html`<form method="post" action="${tenantPath(namespace)}/apps">${formSecret(person)}<input type="hidden" name="app" value="${app}"><p>The App ${app} is installed on ${account.login}, too. Tokens of workloads can share its rate limit: <button>Bind the App ${app}</button></p></form>`,
  )
  return html`${forms}`
}

/** Of the Tenant for its people and whoever may read it, of Installations for whoever may list them. */
function stateSection(person: Person, view: TenantView): Html | undefined {
  const { tenant, role, access, installations } = view
  const seesTenant = role !== undefined || access.tenant
  if (!seesTenant && installations === undefined) return undefined
  const pending = !isReady(tenant) || installations !== undefined
  const rows = installations?.length
    ? installations.map(item => stateRow(`Installation ${item.metadata.name}`, item))
    : pending
      ? [pendingRow]
      : []
  const all = [...(seesTenant ? [stateRow('Tenant', tenant)] : []), ...rows]
  return section(
    'state',
    'State',
    html`${facts(all, 'Whether the tenant can be used.')}${takeOverForm(person, view)}${standInsPart(person, view)}${bindAppForms(person, view)}`,
  )
}

function rolesSection({ tenant, role, access }: TenantView): Html | undefined {
  if (role === undefined && !access.tenant) return undefined
  const rows = tenant.spec.roles.map(({ role: held, subject }) => [held, `${subject.type} ${subject.name ?? ''}`] as const)
  const change =
    role &&
    html`<p class="fine"><a href="${tenantPath(tenant.spec.namespace)}/roles">Change who has which role, or end the tenant</a> (owners of the account)</p>`
  return section('roles', 'Roles', html`${facts(rows, 'Who has which role in the namespace.')}${change}`)
}

function introduction({ tenant, role, access }: TenantView): Html {
  const { account, namespace } = tenant.spec
  const whose = role === undefined && !access.tenant ? undefined : html`GitHub account <strong>${account.login}</strong>, `
  const own = role === undefined ? 'You see what your rights in the cluster allow.' : `You are its ${role}.`
  const readsLog = role === 'admin' || role === 'auditor'
  const log = readsLog && html` <a href="/audit?namespace=${namespace}">Audit log of the tenant</a>`
  return html`<p>${whose}namespace <code>${namespace}</code>. ${own}${log}</p>`
}

function applicationsOf({ applications = 'unread' }: TenantView) {
  return applications === 'unread' ? [] : applications.items
}

function countsOf(view: TenantView) {
  const { builds, pipelines } = view
  const applications = applicationsOf(view)
  const rows = (pipelines?.items ?? []).flatMap(previewsOf)
  return {
    ready: applications.filter(item => readyCondition(item.status?.conditions)?.status === 'True').length,
    applications: applications.length,
    builds: (builds?.builds ?? []).filter(({ ended }) => ended === undefined).length + (builds?.queued.length ?? 0),
    waiting: rows.filter(({ state }) => state === 'WaitingForApproval').length,
    moving: rows.some(({ state }) => classOfPreview[state] === 'progress'),
  }
}

const paces = { young: 3, moving: 3, resting: 15, reloadMoving: 10, reloadLater: 60 } as const
const youngMilliseconds = 5 * 60_000

/** Often while something changes; while the tenant itself is prepared, without scripts as well. */
function liveOf(view: TenantView, now: Date): Live {
  const { tenant, installations, remoteSyncs } = view
  const { ready, applications: all, builds, waiting, moving } = countsOf(view)
  const building = `${builds} ${builds === 1 ? 'build runs or waits' : 'builds run or wait'}`
  const approvals = `${waiting} ${waiting === 1 ? 'commit waits' : 'commits wait'} for approval`
  const asked = view.waitingGrants?.items.length ?? 0
  const grants = asked === 0 ? '' : `, ${asked} ${asked === 1 ? 'grant waits' : 'grants wait'} for approval`
  const summary = `${ready} of ${all} applications ready, ${building}, ${approvals}${grants}`
  const isPrepared = isReady(tenant) && (installations === undefined || installations.some(isReady))
  if (!isPrepared) {
    const isYoung = now.getTime() - Date.parse(tenant.metadata.creationTimestamp ?? '') < youngMilliseconds
    return {
      seconds: paces.young,
      reloadSeconds: isYoung ? paces.young : paces.reloadLater,
      summary: 'The tenant is being prepared',
    }
  }
  const moves = builds > 0 || moving || [...applicationsOf(view), ...(remoteSyncs?.items ?? [])].some(isMoving)
  return moves ? { seconds: paces.moving, reloadSeconds: paces.reloadMoving, summary } : { seconds: paces.resting, summary }
}

const minFiltered = 10

/** Where there is much to see, or something was chosen. */
function filterOf(view: TenantView, { namespace, choice }: Place): Html | undefined {
  const { remoteSyncs, pipelines } = view
  const rows = [applicationsOf(view), remoteSyncs?.items ?? [], (pipelines?.items ?? []).flatMap(previewsOf)]
  const isLong = rows.some(({ length }) => length > minFiltered)
  return isLong || !isEverything(choice) ? choiceForm(tenantPath(namespace), choice) : undefined
}

/** `/tenants/:namespace`. */
export function tenantPage({ person, view, issuer, web, now, choice }: Options): Html {
  const { namespace } = view.tenant.spec
  const place = { namespace, web, choice }
  const body = html`${introduction(view)}
${haltNotice(view.halt)}
${filterOf(view, place)}
${waitingSection(place, person, view)}
${waitingGrantsSection(place, view)}
${applicationsSection(place, view)}
${servicesSection(place, view)}
${remoteSyncsSection(place, view)}
${buildsSection(place, view)}
${previewsSection(place, view)}
${stateSection(person, view)}
${rolesSection(view)}
${section('kubectl', 'kubectl', kubectlSteps(issuer, namespace))}`
  return page({ title: view.tenant.metadata.name, person, live: liveOf(view, now), body })
}

/**
 * While GitHub does not say in which groups the person is: what the Tenant itself says, by the groups that were known last, and
 * nothing else.
 */
export function tenantStatePage(options: Pick<Options, 'person' | 'view'>): Html {
  const { person, view } = options
  return page({
    title: view.tenant.metadata.name,
    person,
    live: { seconds: 30, reloadSeconds: 60, summary: 'GitHub does not answer' },
    body: html`<p role="alert">GitHub does not say in which teams you are at the moment. What is in the namespace is shown again as soon as it does.</p>
${introduction(view)}
${haltNotice(view.halt)}
${stateSection(person, view)}`,
  })
}
