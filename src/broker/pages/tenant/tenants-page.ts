// All tenants of the platform, for its admins and auditors: whose they are and whether they work, those first about which
// somebody has to do something. Pure.
import { type Html, html } from '../../../web/html.ts'
import type { Person } from '../../sessions.ts'
import type { ListedTenant } from '../../tenants/visible-tenants.ts'
import { page } from '../layout.ts'
import { type Choice, choiceForm, chosen, pageOf } from '../state/choice.ts'
import { stateOfTenant } from '../state/tenant-state.ts'
import { table, time, whole } from '../table.ts'
import { tenantPath } from './sections.ts'

const path = '/tenants'

function cells({ metadata, spec }: ListedTenant['tenant'], state: Html) {
  const { login, type, host } = spec.account
  return [
    html`<a href="${tenantPath(spec.namespace)}">${whole(metadata.name)}</a>`,
    html`${whole(login)} <span class="fine">${type}, ${host}</span>`,
    state,
    metadata.creationTimestamp === undefined ? undefined : time(metadata.creationTimestamp),
  ]
}

/** `listed` in the order of their names. */
export function tenantsPage(options: {
  readonly person: Person
  readonly listed: readonly ListedTenant[]
  readonly choice: Choice
}): Html {
  const { person, listed, choice } = options
  const rows = listed.map(({ tenant, halt }) => {
    const { of, reason, cell } = stateOfTenant(tenant, halt)
    const { login } = tenant.spec.account
    return { tenant, cell, of, texts: [tenant.metadata.name, tenant.spec.namespace, login, reason] }
  })
  const { shown, links } = pageOf(choice, 'tenants', { rows: chosen(choice, rows), path })
  const list = table({
    caption: 'The name leads to what your rights show of the tenant.',
    columns: ['Tenant', 'GitHub account', 'State', 'Since'],
    rows: shown.map(({ tenant, cell }) => cells(tenant, cell())),
  })
  const none = html`<p>${listed.length === 0 ? 'There is no tenant yet.' : 'None of them is what you filter by.'}</p>`
  return page({
    title: 'All tenants',
    person,
    body: html`<section id="tenants">${choiceForm(path, choice)}${shown.length === 0 ? none : list}${links}</section>`,
  })
}
