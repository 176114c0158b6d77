// The services of a tenant on its page: which there are, how much of their plans they use, and which Applications use them. Pure.
// Messages of servers are texts of others: escaped and cut. No credential is shown, and none is known here.
import { serviceOf } from '../../../api/services/application-services.ts'
import type { Bucket } from '../../../api/services/bucket.ts'
import type { ServiceInstance } from '../../../api/services/service-instance.ts'
import { type Html, html } from '../../../web/html.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { stateCell } from '../state/state.ts'
import { shortText, table, time, whole } from '../table.ts'
import { type Place, section } from './sections.ts'

type Service = ServiceInstance | Bucket

const nouns = { ServiceInstance: 'database', Bucket: 'bucket' } as const
type Kind = keyof typeof nouns

/** Of the Applications that the person sees. */
function usersOf(kind: Kind, { metadata: { name } }: Service, { applications }: TenantView): string {
  if (applications === undefined || applications === 'unread') return ''
  const uses = (use: Parameters<typeof serviceOf>[0]): boolean => {
    const used = serviceOf(use)
    return used.kind === kind && used.name === name
  }
  const users = applications.items.filter(({ spec }) => spec.services?.some(uses) === true)
  return shortText(users.map(({ metadata }) => metadata.name).join(', '))
}

function usage({ status }: Service): Html | undefined {
  const { usage: used } = status ?? {}
  if (used === undefined) return undefined
  const objects = 'objects' in used ? `, ${used.partial === true ? 'more than ' : ''}${used.objects} objects` : ''
  return html`${used.storage}${objects} <span class="fine">(${time(used.measuredAt)})</span>`
}

function rows<T extends Service>(kind: Kind, items: readonly T[], view: TenantView) {
  return items.map(item => [
    whole(item.metadata.name),
    nouns[kind],
    stateCell(item),
    whole(item.spec.class),
    item.status?.plan ?? item.spec.plan,
    usage(item),
    usersOf(kind, item, view),
  ])
}

const unread = html`<p role="alert">They cannot be read at the moment. Load the page again.</p>`

/** Databases and buckets, as far as the person may list each. */
export function servicesSection({ namespace }: Place, view: TenantView): Html | undefined {
  const { services, buckets } = view
  if (services === undefined && buckets === undefined) return undefined
  if (services === 'unread' || buckets === 'unread') return section('services', 'Services', unread)
  const all = [...rows('ServiceInstance', services?.items ?? [], view), ...rows('Bucket', buckets?.items ?? [], view)]
  const list = table({
    caption: 'Databases and buckets, and how much space they take. Credentials are shown to nobody.',
    columns: ['Service', 'Kind', 'State', 'Class', 'Plan', 'Space', 'Used by'],
    rows: all,
  })
  const more = services?.more === true || buckets?.more === true
  const others = html`<p class="fine">There are more: <code>sekisho services list --namespace ${namespace}</code></p>`
  const none = html`<p>There is no database or bucket yet. <code>sekisho services classes --namespace ${namespace}</code> shows what there can be.</p>`
  return section('services', 'Services', html`${all.length === 0 ? none : list}${more ? others : undefined}`)
}
