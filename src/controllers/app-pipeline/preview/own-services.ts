// The databases and buckets that a preview has for itself: which there are to be, which of those that exist still count, and what
// they say while nothing runs yet. Pure.
import { previewServiceKind, previewServiceName } from '../../../api/apps/app-pipeline/services.ts'
import { type AppPipeline, appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import type { ResourceType } from '../../../api/resource.ts'
import { type Bucket, bucket as buckets } from '../../../api/services/bucket.ts'
import { offerReasons } from '../../../api/services/offer-reasons.ts'
import type { BoundKind } from '../../../api/services/service-binding.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import { type ServiceInstance, serviceInstance as serviceInstances } from '../../../api/services/service-instance.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { OwnedStanding } from '../../kit/owned-application/state.ts'

type Template = AppPipeline['spec']['template']
type Entry = NonNullable<Template['services']>[number]

/** What a preview can have for itself. */
export type PreviewService = ServiceInstance | Bucket

export function serviceType({ kind }: { readonly kind: string }): ResourceType<PreviewService> & KindWithReasons {
  return kind === buckets.kind ? buckets : serviceInstances
}
type KindWithReasons = Parameters<typeof classOf>[0]

/** `template`: as this preview is made of it, so that one of a fork has only what is public. */
export type ServiceFacts = { readonly pipeline: AppPipeline; readonly number: number; readonly template: Template }

type Named = { readonly kind: BoundKind; readonly name: string }

/** An entry of `template.services` with the kind and name of its object. */
export type OwnService = Named & { readonly entry: Entry }

export function ownServices({ pipeline, number, template }: ServiceFacts): readonly OwnService[] {
  return (template.services ?? []).map(entry => {
    const kind = previewServiceKind(template, entry)
    return { entry, kind, name: previewServiceName(pipeline.metadata, number, entry) }
  })
}

export function isService({ kind, metadata }: PreviewService, named: Named): boolean {
  return kind === named.kind && metadata.name === named.name
}

/** Those that the template names, and those that it named before, as with another class. */
export function split(
  services: readonly PreviewService[],
  facts: ServiceFacts,
): { readonly current: readonly PreviewService[]; readonly former: readonly PreviewService[] } {
  const own = ownServices(facts)
  const isCurrent = (service: PreviewService): boolean => own.some(one => isService(service, one))
  return { current: services.filter(isCurrent), former: services.filter(service => !isCurrent(service)) }
}

export function isDeleted({ metadata }: PreviewService): boolean {
  return metadata.deletionTimestamp !== undefined
}

/**
 * Why a preview of a fork is not made: no service is made that its Application, which is isolated, may not use. A class that
 * is not there offers nothing.
 */
export function wall(facts: ServiceFacts, classes: ReadonlyMap<string, ServiceClass>): OwnedStanding | undefined {
  if (facts.template.application.isolated !== true) return undefined
  const closed = facts.template.services?.find(entry => classes.get(entry.class)?.spec.allowIsolated !== true)
  if (closed === undefined) return undefined
  const message = `spec.template.services[${closed.name}]: ServiceClass ${closed.class} is not offered to isolated Applications, such as previews of forks: take ${closed.name} out of public.services, or ask a platform admin to set allowIsolated`
  return { state: 'Failed', reason: reasons.serviceNotForIsolated, message }
}

/**
 * What a preview that never ran waits for: its own services come before what needs them. Later its Application says what it
 * lacks, and goes on while a server is away.
 */
export function standingWithServices(current: readonly PreviewService[], otherwise: OwnedStanding): OwnedStanding {
  if (otherwise.state !== 'Waiting' && otherwise.state !== 'Building') return otherwise
  for (const { kind, metadata, status } of current) {
    const ready = findCondition(status?.conditions, 'Ready')
    if (ready === undefined) return waiting(`${kind} ${metadata.name} was just created`)
    if (ready.status === 'True') continue
    const message = `${kind} ${metadata.name} (${ready.reason}): ${ready.message}`
    if (goesOnByItself(classOf(serviceType({ kind }), ready.reason))) return waiting(message)
    return { state: 'Failed', reason: reasons.serviceNotUsable, message }
  }
  return otherwise
}

function waiting(message: string): OwnedStanding {
  return { state: 'Waiting', reason: reasons.waitingForService, message }
}

/** What keeps a service from being deleted when the Application of the preview is gone: somebody else uses it. */
export function heldService({
  application,
  services,
}: {
  readonly application: unknown
  readonly services: readonly PreviewService[]
}): string | undefined {
  if (application !== undefined) return undefined
  for (const { kind, metadata, status } of services) {
    const ready = findCondition(status?.conditions, 'Ready')
    if (metadata.deletionTimestamp !== undefined && ready?.reason === offerReasons.names.inUse)
      return `${kind} ${metadata.name}: ${ready.message}`
  }
  return undefined
}
