// What a ServiceClass offers to whom: the process that makes instances decides by it, and whoever asks for one hears the same
// before. Pure.
import type { Tenant } from '../tenancy/tenant.ts'
import { defaultConnections, type ServiceClass } from './service-class.ts'

type Offer = Pick<ServiceClass, 'metadata' | 'spec'>

export type Plan = ServiceClass['spec']['plans'][number]

/** A class that is offered to some is offered to those whose Tenants have all its labels. */
export function isOffered({ spec }: Pick<Offer, 'spec'>, tenant: Pick<Tenant, 'metadata'>): boolean {
  return Object.entries(spec.tenants?.matchLabels ?? {}).every(([key, value]) => tenant.metadata.labels?.[key] === value)
}

/** The named plan, the default one, or the only one. */
export function planOf({ spec: { plans } }: Pick<Offer, 'spec'>, name: string | undefined): Plan | undefined {
  if (name !== undefined) return plans.find(plan => plan.name === name)
  return plans.find(plan => plan.default === true) ?? (plans.length === 1 ? plans[0] : undefined)
}

/** The plan that an instance has; where the class has it no more, the one with the fewest connections. */
export function planHeld({ spec: { plans } }: Pick<Offer, 'spec'>, name: string | undefined): Plan | undefined {
  const connectionsOf = ({ limits }: Plan): number => limits.connections ?? defaultConnections
  return plans.find(plan => plan.name === name) ?? [...plans].sort((a, b) => connectionsOf(a) - connectionsOf(b))[0]
}

/** What is said where there is no such plan. */
export function planMessage({ metadata, spec }: Offer, name: string | undefined): string {
  const names = spec.plans.map(plan => plan.name).join(', ')
  return name === undefined
    ? `ServiceClass ${metadata.name} has no default plan: set spec.plan to one of ${names}`
    : `ServiceClass ${metadata.name} has no plan ${name}: it has ${names}`
}

/** The extensions that the class does not allow. */
export function foreignExtensions({ spec }: Pick<Offer, 'spec'>, extensions: readonly string[]): readonly string[] {
  const allowed: readonly string[] = spec.extensions ?? []
  return extensions.filter(name => !allowed.includes(name))
}
