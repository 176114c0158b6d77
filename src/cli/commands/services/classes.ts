// `sekisho services classes`: which services there are, in which plans, and which of them this tenant may have.
import type { Condition } from '../../../api/resource.ts'
import { isOffered, planOf } from '../../../api/services/offer.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { type Cluster, found, readable } from '../../kubernetes/cluster.ts'
import { serviceClasses, tenants } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present, table } from '../../output.ts'
import { verdict } from '../application/status.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type AnyService, allServices, kindOfType } from './service-kinds.ts'

type Options = { readonly output: ClusterFormat }

/** Of the condition Ready of an instance. */
const refused = 'ClassNotAllowed'

/**
 * Whether the tenant may have one: by its Tenant, where the person may read that, else by what became of the instances that it
 * has. Undefined when nobody here can tell.
 */
export function offeredTo(
  serviceClass: Pick<ServiceClass, 'metadata' | 'spec'>,
  tenant: Tenant | undefined,
  services: readonly AnyService[],
): boolean | undefined {
  if (serviceClass.spec.tenants === undefined) return true
  if (tenant !== undefined) return isOffered(serviceClass, tenant)
  const own = services.filter(({ service }) => service.spec.class === serviceClass.metadata.name)
  const ready = (conditions: readonly Condition[] | undefined) => findCondition(conditions, 'Ready')
  const states = own.map(({ service }) => ready(service.status?.conditions))
  if (states.some(state => state?.reason === refused)) return false
  return states.some(state => state?.status === 'True') ? true : undefined
}

/** The Tenant of the namespace; undefined for who may not read Tenants, as members of one may not. */
async function tenantOf({ client, namespace }: Cluster): Promise<Tenant | undefined> {
  const all: readonly Tenant[] = await readable(client.list(tenants), [])
  const named = all.filter(({ spec }) => spec.namespace === namespace)
  return named.find(({ status }) => status?.namespace === namespace) ?? named[0]
}

/** Pure. */
export function rowOf(serviceClass: ServiceClass, offered: boolean | undefined) {
  const { metadata, spec, status } = serviceClass
  const standard = planOf(serviceClass, undefined)?.name
  return {
    class: metadata.name,
    type: spec.type,
    version: status?.version ?? null,
    description: spec.description ?? null,
    ...verdict(serviceClass),
    /** Null: it is offered to Tenants with the labels, and the person cannot see those of theirs. */
    offered: offered ?? null,
    tenants: spec.tenants?.matchLabels ?? null,
    isolated: spec.allowIsolated,
    extensions: spec.extensions ?? [],
    plans: spec.plans.map(plan => ({ ...plan, default: plan.name === standard })),
    credentials: spec.credentials,
  }
}
type Row = ReturnType<typeof rowOf>

function offeredText({ offered, tenants: labels }: Row): string {
  if (offered !== null) return offered ? 'yes' : 'no'
  const named = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return `to some (${named.join(', ')}): ask a platform admin`
}

function plansText({ plans }: Row): string {
  return plans.map(plan => `${plan.name}${plan.default ? '*' : ''} ${plan.limits.storage}`).join(', ')
}

function overview(rows: readonly Row[]): string {
  if (rows.length === 0) return 'no service is offered: a platform admin creates ServiceClasses (docs/guide/services.md)'
  const cells = rows.map(row => [
    row.class,
    row.type,
    row.version ?? '-',
    row.ready ? 'yes' : `no, ${row.reason}`,
    offeredText(row),
    plansText(row),
    row.description ?? '-',
  ])
  return table(['CLASS', 'TYPE', 'VERSION', 'READY', 'FOR YOU', 'PLANS (* WITHOUT --plan)', 'WHAT FOR'], cells)
}

/** Of types whose credentials have a number of connections. */
function connectionsText(row: Row, plan: Row['plans'][number]): string {
  const connections = kindOfType(row.type)?.connections(plan)
  return connections === undefined ? '' : `, ${connections} connections for each credential`
}

/** For people. */
export function details(row: Row): string {
  const { maxAgeDays, overlapMinutes } = row.credentials
  const lines = [
    ['Class', row.class],
    ['Type', row.version === null ? row.type : `${row.type} ${row.version}`],
    ['State', `${row.ready ? 'ready' : 'not ready'}, ${row.reason}: ${row.message}`],
    ['For you', offeredText(row)],
    ...(row.description === null ? [] : [['What for', row.description]]),
    ...row.plans.map(plan => [
      `Plan ${plan.name}`,
      `${plan.limits.storage} of space${connectionsText(row, plan)}${plan.default ? '; the one without --plan' : ''}${plan.description === undefined ? '' : `; ${plan.description}`}`,
    ]),
    ...(kindOfType(row.type)?.hasExtensions === false ? [] : [['Extensions', row.extensions.join(', ') || 'none']]),
    ['Isolated', row.isolated ? 'also for previews of forks that name it' : 'not for code that is not trusted'],
    ['Credentials', `replaced after ${maxAgeDays} days; the former one then works for ${overlapMinutes} minutes`],
  ]
  const width = Math.max(...lines.map(([label = '']) => label.length))
  return lines.map(([label = '', value = '']) => `${label.padEnd(width)}  ${value}`).join('\n')
}

/** All, or one with its plans. */
export async function servicesClasses({ cluster, terminal }: ClusterContext, { output }: Options, name?: string): Promise<void> {
  const { client } = cluster
  const [classes, tenant, services] = await Promise.all([
    name === undefined ? client.list(serviceClasses) : found(cluster, serviceClasses, name).then(one => [one]),
    tenantOf(cluster),
    allServices(cluster),
  ])
  const rows = classes.map(one => rowOf(one, offeredTo(one, tenant, services)))
  const [only] = rows
  if (name !== undefined && only !== undefined) return present(terminal, output, { value: only, text: () => details(only) })
  await present(terminal, output, { value: rows, text: () => overview(rows) })
}
