// One tenant as one person sees it: what waits for approval, what runs, what is built, and the state of the tenant itself.
// Pure. A section is there exactly when the view has its part, which RBAC decided.
import type { Installation } from '../../../api/github/installation.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Person } from '../../sessions.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { kubectlSteps, readyCondition } from '../home.ts'
import { type Live, page } from '../layout.ts'
import { shortText } from '../table.ts'
import { previewsOf, previewsSection, waitingSection } from './previews.ts'
import { applicationsSection, buildsSection, remoteSyncsSection, section } from './sections.ts'
import { isMoving } from './state.ts'

type Options = {
  readonly person: Person
  readonly view: TenantView
  readonly issuer: string
  /** The origin of GitHub's pages. */
  readonly web: string
  readonly now: Date
}

function isReady({ status }: Installation | Tenant): boolean {
  return readyCondition(status?.conditions)?.status === 'True'
}

function stateRow(name: string, { status }: Installation | Tenant): Html {
  const ready = readyCondition(status?.conditions)
  return html`<tr><th scope="row">${name}</th><td>${ready?.status === 'True' ? 'Ready' : (ready?.reason ?? 'Pending')}</td><td>${shortText(ready?.message ?? '')}</td></tr>`
}

const pendingRow = html`<tr><th scope="row">Installation</th><td>Pending</td><td>waiting until the namespace is created</td></tr>`

/** Of the Tenant for its people and whoever may read it, of Installations for whoever may list them. */
function stateSection({ tenant, role, access, installations }: TenantView): Html | undefined {
  const seesTenant = role !== undefined || access.tenant
  if (!seesTenant && installations === undefined) return undefined
  const pending = !isReady(tenant) || installations !== undefined
  const rows = installations?.length
    ? installations.map(item => stateRow(`Installation ${item.metadata.name}`, item))
    : pending && pendingRow
  return section(
    'state',
    'State',
    html`<table><caption>Whether the tenant can be used.</caption><tbody>${seesTenant && stateRow('Tenant', tenant)}
${rows}</tbody></table>`,
  )
}

function rolesSection({ tenant, role, access }: TenantView): Html | undefined {
  if (role === undefined && !access.tenant) return undefined
  const rows = tenant.spec.roles.map(
    item => html`<tr><th scope="row">${item.role}</th><td>${item.subject.type} ${item.subject.name ?? ''}</td></tr>`,
  )
  return section(
    'roles',
    'Roles',
    html`<table><caption>Who has which role in the namespace.</caption><tbody>${rows}</tbody></table>`,
  )
}

function introduction({ tenant, role, access }: TenantView): Html {
  const { account, namespace } = tenant.spec
  const whose = role === undefined && !access.tenant ? undefined : html`GitHub account <strong>${account.login}</strong>, `
  const own = role === undefined ? 'You see what your rights in the cluster allow.' : `You are its ${role}.`
  return html`<p>${whose}namespace <code>${namespace}</code>. ${own}</p>`
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
    moving: rows.some(({ state }) => state === 'Building' || state === 'Waiting' || state === 'Removing'),
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
  const summary = `${ready} of ${all} applications ready, ${building}, ${approvals}`
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

/** `/tenants/:namespace`. */
export function tenantPage({ person, view, issuer, web, now }: Options): Html {
  const { namespace } = view.tenant.spec
  const place = { namespace, web }
  const body = html`${introduction(view)}
${waitingSection(place, person, view)}
${applicationsSection(place, view)}
${remoteSyncsSection(place, view)}
${buildsSection(place, view)}
${previewsSection(place, view)}
${stateSection(view)}
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
${stateSection(view)}`,
  })
}
