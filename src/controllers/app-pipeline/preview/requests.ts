// What previews reserve of the cluster together, from their templates alone: so it is known before anything exists, and nothing
// that a pull request contains changes it. Pure. Pods that a rollout or a release job adds for a while do not count.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { processDefaults } from '../../../api/apps/application/process-defaults.ts'
import { amountOf, bytesText, coresText, mebibytesOf, type Quantity } from '../../../lib/text/quantity.ts'

type Template = AppPipeline['spec']['template']['application']

/** Thousandths of a core, and mebibytes. */
export type Requests = { readonly cpu: number; readonly memory: number }

type Limit = NonNullable<AppPipeline['spec']['limits']['resources']>

const noRequests: Requests = { cpu: 0, memory: 0 }

/** What an Application requests at most: every process with as many pods as it may get, and one pod of each entry of cron. */
export function requestsOf({ processes, cron = [], replicas }: Pick<Template, 'processes' | 'cron' | 'replicas'>): Requests {
  // What the Application controller runs when the image says nothing else (image/processes.ts).
  const running = processes ?? [{ name: 'web', ...processDefaults, autoscaling: undefined }]
  const all = running.map(process => {
    const scaled = process.name === 'web' ? replicas : undefined
    return { ...process, pods: process.autoscaling?.maxReplicas ?? scaled ?? process.replicas }
  })
  return sum([...all, ...cron.map(one => ({ ...one, pods: 1 }))].map(({ pods, cpu, memory }) => timesOf({ cpu, memory }, pods)))
}

/** The amount of each resource in the unit of `Requests`. */
const unitsOf = { cpu: amountOf, memory: mebibytesOf } as const

function timesOf({ cpu, memory }: { readonly cpu: Quantity; readonly memory: Quantity }, pods: number): Requests {
  return { cpu: unitsOf.cpu(cpu) * pods, memory: unitsOf.memory(memory) * pods }
}

export function sum(all: readonly Requests[]): Requests {
  return all.reduce((a, b) => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory }), noRequests)
}

/** As Kubernetes writes them. */
export function requestsText({ cpu, memory }: Requests): { readonly cpu: string; readonly memory: string } {
  return { cpu: coresText(cpu), memory: bytesText(memory) }
}

/**
 * Why a preview that requests so much gets no place beside those that have one; undefined when it gets one. The message does
 * not say how much the others request now: it stands on the pull request, and would be written again with each of their
 * changes.
 */
export function excessOf(limit: Limit, taken: Requests, wanted: Requests): string | undefined {
  for (const resource of ['cpu', 'memory'] as const) {
    const most = limit[resource]
    const amount = most === undefined ? undefined : unitsOf[resource](most)
    if (amount === undefined || taken[resource] + wanted[resource] <= amount) continue
    const own = requestsText(wanted)[resource]
    const field = `spec.limits.resources.${resource}`
    const why =
      wanted[resource] > amount
        ? `one preview requests ${own} of ${resource}, and ${field} allows ${most} for all together`
        : `${field} allows all previews together ${most} of ${resource}; those of pull requests with newer activity leave less than the ${own} of this one`
    return `${why}: raise it, or lower ${resource} or the number of pods in spec.template.application.processes`
  }
  return undefined
}
