// The kinds of services that Applications use, as a table: what commands say and do of each, so that another kind is one entry.
import type { Application } from '../../../api/apps/application.ts'
import type { Condition, KubeObject, ResourceType } from '../../../api/resource.ts'
import type { Plan } from '../../../api/services/offer.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import { defaultConnections } from '../../../api/services/service-class.ts'
import { AppError } from '../../../lib/errors.ts'
import { absent, type Cluster } from '../../kubernetes/cluster.ts'
import { buckets, serviceInstances } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'

/** What every kind of service has. */
export type ServiceObject = KubeObject & {
  readonly spec: {
    readonly class: string
    readonly plan?: string
    readonly whenDeleted: 'Keep' | 'Delete'
    readonly parameters?: object
    /** Of buckets only. */
    readonly emptyWhenDeleted?: boolean
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly Condition[]
    readonly plan?: string
    readonly version?: string
    /** The name in the store: of buckets only. */
    readonly bucket?: string
    readonly endpoint?: string | { readonly host: string; readonly port: number }
    /** `objects` and `partial`: of buckets only. */
    readonly usage?: {
      readonly storage: string | number
      readonly objects?: number
      readonly partial?: boolean
      readonly measuredAt: string
    }
  }
}

export type ServiceUse = NonNullable<Application['spec']['services']>[number]

/** How much of something is used, and how much the plan allows; no `limit` where plans have none. */
export type Measure = { readonly what: string; readonly used: string | undefined; readonly limit?: string | undefined }

export type ServiceKind = {
  readonly type: ResourceType<ServiceObject>
  /** As people call one. */
  readonly noun: string
  /** `spec.type` of the classes that make it. */
  readonly classType: string
  /** The field of an entry of `spec.services` that names it. */
  readonly useField: 'instance' | 'bucket'
  /** Where the data are while nobody has it. */
  readonly keptIn: string
  /** How many connections each credential of a plan may have; undefined where that has no meaning. */
  readonly connections: (plan: Plan) => number | undefined
  /** Whether classes of it have extensions. */
  readonly hasExtensions: boolean
  readonly measures: (service: ServiceObject, plan: Plan | undefined) => readonly Measure[]
}

const quantity = (value: string | number | undefined): string | undefined => (value === undefined ? undefined : String(value))

const connectionsOf = ({ limits }: Plan): number => limits.connections ?? defaultConnections

/** At least, where there are more objects than the platform counts. */
function counted(value: string | number | undefined, partial: boolean | undefined): string | undefined {
  const text = quantity(value)
  return text !== undefined && partial === true ? `${text} or more` : text
}

export const serviceKinds: readonly ServiceKind[] = [
  {
    type: serviceInstances,
    noun: 'database',
    classType: 'postgresql',
    useField: 'instance',
    keptIn: 'on the server',
    connections: connectionsOf,
    hasExtensions: true,
    measures: ({ status }, plan) => [
      { what: 'space', used: quantity(status?.usage?.storage), limit: quantity(plan?.limits.storage) },
      { what: 'connections of each credential', used: undefined, limit: quantity(plan && connectionsOf(plan)) },
    ],
  },
  {
    type: buckets,
    noun: 'bucket',
    classType: 'bucket',
    useField: 'bucket',
    keptIn: 'in the store',
    connections: () => undefined,
    hasExtensions: false,
    measures: ({ status }, plan) => [
      {
        what: 'space',
        used: counted(status?.usage?.storage, status?.usage?.partial),
        limit: quantity(plan?.limits.storage),
      },
      { what: 'objects', used: counted(status?.usage?.objects, status?.usage?.partial) },
    ],
  },
]

/** By `spec.type` of a class; undefined for a type that this version does not know. */
export function kindOfType(type: string): ServiceKind | undefined {
  return serviceKinds.find(({ classType }) => classType === type)
}

/** Any service of the namespace, with its kind. */
export type AnyService = { readonly kind: ServiceKind; readonly service: ServiceObject }

/** By kind, then by name. */
export async function allServices({ client, namespace }: Cluster): Promise<readonly AnyService[]> {
  const lists = await Promise.all(serviceKinds.map(({ type }) => client.list(type, { namespace })))
  return serviceKinds.flatMap((kind, index) => (lists[index] ?? []).map(service => ({ kind, service })))
}

/** Rejects with `not_found`, which lists those that exist and the one that may be meant. */
export async function namedService(cluster: Cluster, name: string): Promise<AnyService> {
  const { client, namespace } = cluster
  const found = await Promise.all(serviceKinds.map(({ type }) => client.get(type, { namespace, name })))
  const all = serviceKinds.flatMap((kind, index) => {
    const service = found[index]
    return service === undefined ? [] : [{ kind, service }]
  })
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined)
    throw new AppError(
      'invalid_request',
      `${name} is the name of a ${all.map(({ kind }) => kind.noun).join(' and of a ')}: use kubectl for them, which tells them apart`,
    )
  const [one, ...more] = serviceKinds
  if (one !== undefined && more.length === 0) return absent(cluster, one.type, name)
  const names = (await allServices(cluster)).map(({ service }) => service.metadata.name)
  const there = names.length === 0 ? 'there are none' : `there are ${names.slice(0, 20).join(', ')}`
  throw new AppError('not_found', `service ${name} does not exist in ${namespace}; ${there}${didYouMean(name, names)}`)
}

/** The entries of an Application that name it. */
export function usesOf({ spec }: Application, { kind, service }: AnyService): readonly ServiceUse[] {
  return (spec.services ?? []).filter(use => use[kind.useField] === service.metadata.name)
}

/** The ServiceBindings of it. */
export function bindingsOf(all: readonly ServiceBinding[], { kind, service }: AnyService): readonly ServiceBinding[] {
  return all.filter(({ spec }) => spec.service.kind === kind.type.kind && spec.service.name === service.metadata.name)
}
