// One tenant as its people see it: state, installations, roles, commands. Pure.
import type { Installation } from '../../api/github/installation.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { type Html, html } from '../../web/html.ts'
import type { TenantRole } from '../people/tenant-access.ts'
import type { Person } from '../sessions.ts'
import { kubectlSteps, readyCondition } from './home.ts'
import { page } from './layout.ts'

function isReady({ status }: Installation | Tenant): boolean {
  return readyCondition(status?.conditions)?.status === 'True'
}

function stateRow(name: string, { status }: Installation | Tenant): Html {
  const ready = readyCondition(status?.conditions)
  return html`<tr><th scope="row">${name}</th><td>${ready?.status === 'True' ? 'Ready' : (ready?.reason ?? 'Pending')}</td><td>${ready?.message ?? ''}</td></tr>`
}

const young = { forMilliseconds: 5 * 60_000, refreshSeconds: 3 }
const laterRefreshSeconds = 60

/** Short while the tenant is being created. Later long: each load calls GitHub as the person, whose rate limit is per hour. */
function refreshSecondsOf({ metadata }: Tenant, now: Date): number {
  const age = now.getTime() - Date.parse(metadata.creationTimestamp ?? '')
  return age < young.forMilliseconds ? young.refreshSeconds : laterRefreshSeconds
}

/** Reloads until the tenant and one of its installations are ready. */
export function tenantPage(options: {
  readonly person: Person
  readonly tenant: Tenant
  readonly role: TenantRole
  readonly installations: readonly Installation[]
  readonly issuer: string
  readonly now: Date
}): Html {
  const { person, tenant, role, installations, issuer, now } = options
  const { account, namespace, roles } = tenant.spec
  const ready = isReady(tenant) && installations.some(isReady)
  return page({
    title: tenant.metadata.name,
    person,
    ...(ready ? {} : { refreshSeconds: refreshSecondsOf(tenant, now) }),
    body: html`<p>GitHub account <strong>${account.login}</strong>, namespace <code>${namespace}</code>. You are its ${role}.</p>
<h2>State</h2><table><tbody>${stateRow('Tenant', tenant)}
${installations.length === 0 ? html`<tr><th scope="row">Installation</th><td>Pending</td><td>waiting until the namespace is created</td></tr>` : installations.map(item => stateRow(`Installation ${item.metadata.name}`, item))}</tbody></table>
<h2>Roles</h2><table><tbody>${roles.map(item => html`<tr><td>${item.role}</td><td>${item.subject.type} ${item.subject.name ?? ''}</td></tr>`)}</tbody></table>
${kubectlSteps(issuer, namespace)}`,
  })
}
