// Whether a ServiceInstance is to be made, and as what. Pure.
import { foreignExtensions, type Plan } from '../../api/services/offer.ts'
import { defaultConnections } from '../../api/services/service-class.ts'
import { serviceInstanceReasons as reasons, type ServiceInstance } from '../../api/services/service-instance.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { Refusal } from '../../policy/check.ts'
import { instanceId } from '../adapters/postgresql/identifiers.ts'
import { type FoundDatabase, isAsWanted } from '../adapters/postgresql/instances.ts'
import { offerTo } from '../offer.ts'
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
  const offer = offerTo({ service: instance, type: 'postgresql', tenant, serviceClass })
  if (offer.kind === 'refused') return offer
  const extensions = spec.parameters?.postgresql?.extensions ?? []
  const foreign = foreignExtensions(offer.serviceClass, extensions)
  if (foreign.length > 0)
    return refuse(reasons.extensionNotAllowed, `ServiceClass ${spec.class} does not allow the extension ${foreign.join(', ')}`)
  const { namespace = '', name } = metadata
  // The one that it has, whatever became of the Tenant since: another one would be empty.
  const id = status?.externalId ?? instanceId({ tenantUid: offer.tenant.metadata.uid ?? '', namespace, name })
  return { kind: 'keep', id, plan: offer.plan, extensions, mayCreate: !wasProvisioned(instance) }
}

export function wasProvisioned({ status }: ServiceInstance): boolean {
  const condition = findCondition(status?.conditions, 'Provisioned')
  return condition?.status === 'True' || condition?.reason === reasons.instanceMissing
}

/** Of one login at a time. */
export function connectionsOf({ limits }: Plan): number {
  return limits.connections ?? defaultConnections
}

/** Whether the database that a look found is as the decision wants it. */
export function isAtRest(found: FoundDatabase | undefined, { plan }: { readonly plan: Plan }): boolean {
  return found !== undefined && isAsWanted(found, { connections: connectionsOf(plan) })
}
