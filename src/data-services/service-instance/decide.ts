// Whether a ServiceInstance is to be made, and as what. Pure.
import { foreignExtensions, isOffered, type Plan, planMessage, planOf } from '../../api/services/offer.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { Refusal } from '../../policy/check.ts'
import { instanceId } from '../adapters/postgresql/identifiers.ts'
import type { Facts } from './gather.ts'

export type Decision =
  | ({ readonly kind: 'refused' } & Refusal)
  | {
      readonly kind: 'keep'
      /** On the server. */
      readonly id: string
      readonly plan: Plan
      readonly extensions: readonly string[]
      /** False when it was complete once: what the server lost is never replaced by something empty. */
      readonly mayCreate: boolean
    }

/** The first reason why it cannot be, or what it is to be. */
export function decide({ instance, tenant, serviceClass }: Facts): Decision {
  const refuse = (reason: string, message: string): Decision => ({ kind: 'refused', reason, message })
  const { spec, metadata, status } = instance
  if (tenant === undefined) return refuse(reasons.noTenant, 'this namespace is not the one in which a tenant works')
  if (serviceClass === undefined)
    return refuse(reasons.classNotFound, `there is no ServiceClass ${spec.class}: see kubectl get serviceclasses`)
  if (!isOffered(serviceClass, tenant))
    return refuse(reasons.classNotAllowed, `ServiceClass ${spec.class} is not offered to Tenant ${tenant.metadata.name}`)
  const plan = planOf(serviceClass, spec.plan)
  if (plan === undefined) return refuse(reasons.planNotFound, planMessage(serviceClass, spec.plan))
  const extensions = spec.parameters?.postgresql?.extensions ?? []
  const foreign = foreignExtensions(serviceClass, extensions)
  if (foreign.length > 0)
    return refuse(reasons.extensionNotAllowed, `ServiceClass ${spec.class} does not allow the extension ${foreign.join(', ')}`)
  const { namespace = '', name } = metadata
  // The one that it has, whatever became of the Tenant since: another one would be empty.
  const id = status?.externalId ?? instanceId({ tenantUid: tenant.metadata.uid ?? '', namespace, name })
  return { kind: 'keep', id, plan, extensions, mayCreate: !wasProvisioned(instance) }
}

export function wasProvisioned({ status }: ServiceInstance): boolean {
  const condition = findCondition(status?.conditions, 'Provisioned')
  return condition?.status === 'True' || condition?.reason === reasons.instanceMissing
}
