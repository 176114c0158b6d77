// The services of a tenant on its page: which there are, how much of their plans they use, and which Applications use them. Pure.
// Messages of servers are texts of others: escaped and cut. No credential is shown, and none is known here.
import type { ServiceInstance } from '../../../api/services/service-instance.ts'
import { type Html, html } from '../../../web/html.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { stateCell } from '../state/state.ts'
import { shortText, table, time, whole } from '../table.ts'
import { type Place, section } from './sections.ts'

/** Of the Applications that the person sees. */
function usersOf({ metadata: { name } }: ServiceInstance, { applications }: TenantView): string {
  if (applications === undefined || applications === 'unread') return ''
  const users = applications.items.filter(({ spec }) => spec.services?.some(use => use.instance === name) === true)
  return shortText(users.map(({ metadata }) => metadata.name).join(', '))
}

function usage({ status }: ServiceInstance): Html | undefined {
  const { usage: used } = status ?? {}
  return used && html`${used.storage} <span class="fine">(${time(used.measuredAt)})</span>`
}

/** Databases and what comes after them. */
export function servicesSection({ namespace }: Place, view: TenantView): Html | undefined {
  const { services } = view
  if (services === undefined) return undefined
  if (services === 'unread')
    return section('services', 'Services', html`<p role="alert">They cannot be read at the moment. Load the page again.</p>`)
  const { items, more } = services
  const list = table({
    caption: 'Databases, and how much space they take. Credentials are shown to nobody.',
    columns: ['Service', 'State', 'Class', 'Plan', 'Space', 'Used by'],
    rows: items.map(item => [
      whole(item.metadata.name),
      stateCell(item),
      whole(item.spec.class),
      item.status?.plan ?? item.spec.plan,
      usage(item),
      usersOf(item, view),
    ]),
  })
  const others = html`<p class="fine">There are more: <code>sekisho services list --namespace ${namespace}</code></p>`
  const none = html`<p>There is no database yet. <code>sekisho services classes --namespace ${namespace}</code> shows what there can be.</p>`
  return section('services', 'Services', html`${items.length === 0 ? none : list}${more ? others : undefined}`)
}
