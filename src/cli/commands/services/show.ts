// `sekisho services list` and `info`: the services of the namespace, how much of their plans they use, who uses them, and how old
// their credentials are. No credential is in any answer of the API.
import type { Application } from '../../../api/apps/application.ts'
import { planOf } from '../../../api/services/offer.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import { defined } from '../../../lib/json/defined.ts'
import { applications, serviceBindings, serviceClasses } from '../../kubernetes/kinds.ts'
import { age, type ClusterFormat, present, table } from '../../output.ts'
import { verdict } from '../application/status.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { agesText, credentialOf } from './credentials.ts'
import { type AnyService, allServices, bindingsOf, namedService, usesOf } from './service-kinds.ts'

type Options = { readonly output: ClusterFormat }

/** What is known beside the services. */
export type Surroundings = {
  readonly classes: readonly ServiceClass[]
  readonly bindings: readonly ServiceBinding[]
  readonly applications: readonly Application[]
}

export async function surroundings({ cluster: { client, namespace } }: ClusterContext): Promise<Surroundings> {
  const [classes, bindings, all] = await Promise.all([
    client.list(serviceClasses),
    client.list(serviceBindings, { namespace }),
    client.list(applications, { namespace }),
  ])
  return { classes, bindings, applications: all }
}

/** Pure. `parameters`: as the kind has them. */
export function rowOf(one: AnyService, { classes, bindings, applications: all }: Surroundings) {
  const { kind, service } = one
  const { metadata, spec, status } = service
  const serviceClass = classes.find(({ metadata: { name } }) => name === spec.class)
  const plan = serviceClass && planOf(serviceClass, status?.plan ?? spec.plan)
  const credentials = bindingsOf(bindings, one).map(credentialOf)
  return {
    service: metadata.name,
    kind: kind.type.kind,
    class: spec.class,
    type: serviceClass?.spec.type ?? kind.classType,
    version: status?.version ?? null,
    plan: plan?.name ?? status?.plan ?? spec.plan ?? null,
    ...verdict(service),
    deleting: metadata.deletionTimestamp !== undefined,
    createdAt: metadata.creationTimestamp ?? null,
    endpoint: status?.endpoint ?? null,
    ...defined({ bucket: status?.bucket }),
    whenDeleted: spec.whenDeleted,
    parameters: spec.parameters ?? null,
    usage: kind.measures(service, plan).map(measure => ({
      what: measure.what,
      used: measure.used ?? null,
      ...('limit' in measure ? { limit: measure.limit ?? null } : {}),
    })),
    measuredAt: status?.usage?.measuredAt ?? null,
    usedBy: all.flatMap(application =>
      usesOf(application, one).map(({ name, access }) => ({ application: application.metadata.name, entry: name, access })),
    ),
    credentials,
  }
}
export type ServiceRow = ReturnType<typeof rowOf>

type MeasureRow = ServiceRow['usage'][number]

/** Without a limit where plans have none. */
function amountText({ used, limit }: MeasureRow): string {
  const most = limit === undefined ? '' : ` of ${limit ?? '?'}`
  if (used !== null) return `${used}${most}`
  return limit === undefined ? 'not measured yet' : `at most ${limit ?? '?'}`
}

function usageText({ usage }: ServiceRow): string {
  return (
    usage.flatMap(measure => (measure.used === null || measure.limit === undefined ? [] : [amountText(measure)])).join(', ') ||
    '-'
  )
}

function usersText({ usedBy, credentials }: ServiceRow): string {
  const people = credentials.filter(({ application }) => application === null).map(({ binding }) => `ServiceBinding ${binding}`)
  return [...new Set(usedBy.map(({ application }) => application)), ...people].join(', ') || '-'
}

function overview(rows: readonly ServiceRow[], namespace: string, now: Date): string {
  if (rows.length === 0)
    return `no services in ${namespace}; sekisho services create NAME makes one, and sekisho services classes shows of what`
  const cells = rows.map(row => [
    row.service,
    row.class,
    row.plan ?? '-',
    usageText(row),
    row.deleting ? 'no, deleting' : row.ready ? 'yes' : 'no',
    row.reason,
    usersText(row),
    age(row.createdAt ?? undefined, now),
  ])
  return table(['SERVICE', 'CLASS', 'PLAN', 'USED', 'READY', 'REASON', 'USED BY', 'AGE'], cells)
}

const keeping = { Keep: 'the data stay', Delete: 'the data are deleted, too' } as const

/** For people. */
export function details(row: ServiceRow, now: Date): string {
  const { endpoint, measuredAt } = row
  const lines = [
    ['Service', row.service],
    ['Class', `${row.class}, ${row.version === null ? row.type : `${row.type} ${row.version}`}`],
    ['State', `${row.ready ? 'ready' : 'not ready'}, ${row.reason}: ${row.message}`],
    ['Plan', row.plan ?? '-'],
    ...row.usage.map(measure => [
      `  ${measure.what}`,
      `${amountText(measure)}${measure.used === null ? '' : `, measured ${age(measuredAt ?? undefined, now)} ago`}`,
    ]),
    ...(endpoint === null ? [] : [['Address', typeof endpoint === 'string' ? endpoint : `${endpoint.host}:${endpoint.port}`]]),
    ...(row.bucket === undefined ? [] : [['Bucket', row.bucket]]),
    ['When deleted', `${row.whenDeleted}: ${keeping[row.whenDeleted]}`],
    ...row.usedBy.map(({ application, entry, access }) => [`Used by ${application}`, `as ${entry}, ${access}`]),
    ...row.credentials.map(one => [
      `Credential ${one.binding}`,
      `${one.access}, ${one.application === null ? 'for pods of your own' : `for ${one.application}`}, ${agesText(one, now)}${one.ready ? '' : ` (${one.reason}: ${one.message})`}`,
    ]),
  ]
  const width = Math.max(...lines.map(([label = '']) => label.length))
  const text = lines.map(([label = '', value = '']) => `${label.padEnd(width)}  ${value.replaceAll('\n', ' ')}`)
  if (row.usedBy.length === 0 && row.credentials.length === 0)
    text.push(`nothing uses it; sekisho services attach ${row.service} APPLICATION gives it to one`)
  if (!row.ready) text.push(`sekisho why ${row.kind.toLowerCase()}/${row.service} looks for the cause, step by step`)
  return text.join('\n')
}

/** All services of the namespace. */
export async function servicesList(context: ClusterContext, { output }: Options): Promise<void> {
  const { cluster, terminal, clock } = context
  const [all, around] = await Promise.all([allServices(cluster), surroundings(context)])
  const rows = all.map(one => rowOf(one, around))
  await present(terminal, output, { value: rows, text: () => overview(rows, cluster.namespace, clock.now()) })
}

/** One, with its credentials. Rejects with `not_found`. */
export async function servicesInfo(context: ClusterContext, { output }: Options, name: string): Promise<void> {
  const { cluster, terminal, clock } = context
  const [one, around] = await Promise.all([namedService(cluster, name), surroundings(context)])
  const row = rowOf(one, around)
  await present(terminal, output, { value: row, text: () => details(row, clock.now()) })
}
