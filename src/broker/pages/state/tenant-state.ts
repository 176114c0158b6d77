// Whether a tenant works, for the lists of tenants: its namespaces, its account on GitHub, a Halt. Pure.
import type { Halt } from '../../../api/github/halt.ts'
import { classOfReason } from '../../../api/reasons/class-of-reason.ts'
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import { type Tenant, tenantConditions } from '../../../api/tenancy/tenant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type Html, html } from '../../../web/html.ts'
import { shortText } from '../table.ts'
import { haltNotice } from './halt-notice.ts'
import { signed } from './sign.ts'
import { classOfState, readyCondition, reasonOf, stateCell } from './state.ts'

/** `cell` is made for the rows that are shown. */
type Said = { readonly of: ReasonClass; readonly reason: string; readonly cell: () => Html }

/** The first that is not as it should be. */
export function stateOfTenant({ metadata, status }: Tenant, halt: Halt | undefined): Said {
  if (halt !== undefined)
    return { of: 'person', reason: 'Halted', cell: () => html`${signed('person', 'Halted')}${haltNotice(halt)}` }
  const object = { metadata, ...defined({ status }) }
  const isPrepared = readyCondition(status?.conditions)?.status === 'True'
  if (!isPrepared || metadata.deletionTimestamp !== undefined)
    return { of: classOfState(object), reason: reasonOf(object), cell: () => stateCell(object) }
  const access = findCondition(status?.conditions, tenantConditions.gitHubAccess)
  if (access === undefined || access.status === 'True')
    return { of: 'ready', reason: 'ready', cell: () => signed('ready', 'ready') }
  const of = classOfReason(access.reason) ?? 'machine'
  const cell = () => html`${signed(of, access.reason)} <span class="fine">${shortText(access.message)}</span>`
  return { of, reason: access.reason, cell }
}
