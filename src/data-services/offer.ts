// Whether a ServiceInstance or Bucket can be made of the class that it names, and how its way to the server stands. Pure.
import type { Bucket } from '../api/services/bucket.ts'
import { isOffered, type Plan, planMessage, planOf } from '../api/services/offer.ts'
import { offerReasons } from '../api/services/offer-reasons.ts'
import type { ServiceType } from '../api/services/provider.ts'
import { type ServiceClass, serviceClassReasons } from '../api/services/service-class.ts'
import { type ServiceInstance, serviceInstanceReasons } from '../api/services/service-instance.ts'
import type { Tenant } from '../api/tenancy/tenant.ts'
import { findCondition } from '../kube/object/conditions.ts'
import type { Refusal } from '../policy/check.ts'

const reasons = offerReasons.names

export type Wanted = {
  readonly service: ServiceInstance | Bucket
  /** What the class must offer for it. */
  readonly type: ServiceType
  /** The one whose namespace it is; undefined for none, or several. */
  readonly tenant: Tenant | undefined
  readonly serviceClass: ServiceClass | undefined
}
export type Offer =
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'offered'; readonly tenant: Tenant; readonly serviceClass: ServiceClass; readonly plan: Plan }

const kindOf = { postgresql: 'ServiceInstance', bucket: 'Bucket' } as const

/** The plan of the class that it gets, or the first reason why there is none for it. */
export function offerTo({ service: { spec }, type, tenant, serviceClass }: Wanted): Offer {
  const refuse = (reason: string, message: string): Offer => ({ kind: 'refused', reason, message })
  if (tenant === undefined) return refuse(reasons.noTenant, 'this namespace is not the one in which a tenant works')
  if (serviceClass === undefined)
    return refuse(reasons.classNotFound, `there is no ServiceClass ${spec.class}: see kubectl get serviceclasses`)
  if (!isOffered(serviceClass, tenant))
    return refuse(reasons.classNotAllowed, `ServiceClass ${spec.class} is not offered to Tenant ${tenant.metadata.name}`)
  if (serviceClass.spec.type !== type)
    return refuse(
      reasons.classOfOtherType,
      `ServiceClass ${spec.class} is of type ${serviceClass.spec.type}: use it with the kind ${kindOf[serviceClass.spec.type]}`,
    )
  const plan = planOf(serviceClass, spec.plan)
  if (plan === undefined) return refuse(reasons.planNotFound, planMessage(serviceClass, spec.plan))
  return { kind: 'offered', tenant, serviceClass, plan }
}

/** Why the server of a class is not to be asked now. A change of the class wakes whoever waits for it. */
export function unreadiness({ metadata, status }: ServiceClass): Refusal | undefined {
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready?.status === 'True') return undefined
  const why = ready?.reason ?? serviceClassReasons.notTried
  return { reason: reasons.classNotReady, message: `ServiceClass ${metadata.name} is not ready: ${why}` }
}

/** Whether this generation was carried out before. */
export function isSettled({ metadata, status }: ServiceInstance | Bucket): boolean {
  const ready = findCondition(status?.conditions, 'Ready')
  const isDone = ready?.status === 'True' || ready?.reason === serviceInstanceReasons.writesEnded
  return isDone && ready?.observedGeneration === metadata.generation
}

/** While it is being deleted and bindings still use it. */
export function inUse(bindings: readonly { readonly metadata: { readonly name: string } }[]): Refusal | undefined {
  if (bindings.length === 0) return undefined
  const names = bindings.slice(0, 10).map(({ metadata }) => metadata.name)
  return { reason: reasons.inUse, message: `still used by ServiceBinding ${names.join(', ')}: delete what uses it first` }
}

/** How many databases a tenant leaves on one server, and buckets in one class's store, whose objects were deleted. */
export const maxKept = 10

/** What is said to whom has as many. */
export function keptTooMany(type: ServiceType): Refusal {
  const [where, what] = type === 'bucket' ? ['store', 'buckets'] : ['server', 'databases']
  const message = `the ${where} keeps ${maxKept} ${what} for this tenant, and no more: set whenDeleted of this one to Delete, make and delete those that nobody needs again by their names, or ask a platform admin to drop some`
  return { reason: reasons.keptTooMany, message }
}
