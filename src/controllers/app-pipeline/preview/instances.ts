// The ServiceInstances that a preview has for itself: which there are to be, which of those that exist still count, and what
// they say while nothing runs yet. Pure.
import { previewInstanceName } from '../../../api/apps/app-pipeline/services.ts'
import { type AppPipeline, appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import {
  type ServiceInstance,
  serviceInstanceReasons,
  serviceInstance as serviceInstances,
} from '../../../api/services/service-instance.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { OwnedStanding } from '../../kit/owned-application/state.ts'

type Template = AppPipeline['spec']['template']
type OwnService = NonNullable<Template['services']>[number]

/** `template`: as this preview is made of it, so that one of a fork has only what is public. */
export type InstanceFacts = { readonly pipeline: AppPipeline; readonly number: number; readonly template: Template }

/** An entry of `template.services` with the name of its ServiceInstance. */
export type OwnInstance = { readonly entry: OwnService; readonly name: string }

export function ownInstances({ pipeline, number, template }: InstanceFacts): readonly OwnInstance[] {
  return (template.services ?? []).map(entry => ({ entry, name: previewInstanceName(pipeline.metadata, number, entry) }))
}

/** Those that the template names, and those that it named before, as with another class. */
export function split(
  instances: readonly ServiceInstance[],
  facts: InstanceFacts,
): { readonly current: readonly ServiceInstance[]; readonly former: readonly ServiceInstance[] } {
  const names = new Set(ownInstances(facts).map(({ name }) => name))
  return {
    current: instances.filter(({ metadata }) => names.has(metadata.name)),
    former: instances.filter(({ metadata }) => !names.has(metadata.name)),
  }
}

export function isDeleted({ metadata }: ServiceInstance): boolean {
  return metadata.deletionTimestamp !== undefined
}

/**
 * Why a preview of a fork is not made: no instance is made that its Application, which is isolated, may not use. A class that
 * is not there offers nothing.
 */
export function wall(facts: InstanceFacts, classes: ReadonlyMap<string, ServiceClass>): OwnedStanding | undefined {
  if (facts.template.application.isolated !== true) return undefined
  const closed = facts.template.services?.find(entry => classes.get(entry.class)?.spec.allowIsolated !== true)
  if (closed === undefined) return undefined
  const message = `spec.template.services[${closed.name}]: ServiceClass ${closed.class} is not offered to isolated Applications, such as previews of forks: take ${closed.name} out of public.services, or ask a platform admin to set allowIsolated`
  return { state: 'Failed', reason: reasons.serviceNotForIsolated, message }
}

/**
 * What a preview that never ran waits for: its own instances come before what needs them. Later its Application says what it
 * lacks, and goes on while a server is away.
 */
export function standingWithInstances(current: readonly ServiceInstance[], otherwise: OwnedStanding): OwnedStanding {
  if (otherwise.state !== 'Waiting' && otherwise.state !== 'Building') return otherwise
  for (const instance of current) {
    const { name } = instance.metadata
    const ready = findCondition(instance.status?.conditions, 'Ready')
    if (ready === undefined) return waiting(`ServiceInstance ${name} was just created`)
    if (ready.status === 'True') continue
    const message = `ServiceInstance ${name} (${ready.reason}): ${ready.message}`
    const of = classOf(serviceInstances, ready.reason)
    if (goesOnByItself(of)) return waiting(message)
    return { state: 'Failed', reason: reasons.serviceNotUsable, message }
  }
  return otherwise
}

function waiting(message: string): OwnedStanding {
  return { state: 'Waiting', reason: reasons.waitingForService, message }
}

/** What keeps an instance from being deleted when the Application of the preview is gone: somebody else uses it. */
export function heldInstance({
  application,
  instances,
}: {
  readonly application: unknown
  readonly instances: readonly ServiceInstance[]
}): string | undefined {
  if (application !== undefined) return undefined
  for (const { metadata, status } of instances) {
    const ready = findCondition(status?.conditions, 'Ready')
    if (metadata.deletionTimestamp !== undefined && ready?.reason === serviceInstanceReasons.inUse)
      return `ServiceInstance ${metadata.name}: ${ready.message}`
  }
  return undefined
}
