// Why pods of the platform do not become ready, for the message when waiting for them ends.
import { messageOf } from '../../../src/lib/errors.ts'
import type { Kubectl } from '../kubectl.ts'
import { platformNamespace } from '../mode.ts'

type ContainerState = {
  readonly name: string
  readonly ready?: boolean
  readonly state?: { readonly waiting?: Reason; readonly terminated?: Reason & { readonly exitCode: number } }
}
type Reason = { readonly reason?: string; readonly message?: string }

export type PodObject = {
  readonly metadata: { readonly name: string }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly (Reason & { readonly type: string; readonly status: string })[]
    readonly initContainerStatuses?: readonly ContainerState[]
    readonly containerStatuses?: readonly ContainerState[]
  }
}

/** One line for each pod with trouble; what cannot be read is said instead. */
export async function podTrouble(kubectl: Kubectl): Promise<string> {
  try {
    const found = (await kubectl.read(['pods', '-n', platformNamespace])) as { readonly items?: readonly PodObject[] } | undefined
    const lines = (found?.items ?? []).flatMap(troubleOf)
    return lines.length === 0 ? `see kubectl get pods,events -n ${platformNamespace}` : lines.join('\n')
  } catch (error) {
    return `the pods cannot be read: ${messageOf(error)}`
  }
}

/**
 * What the scheduler, the container runtime or the end of a container says; nothing for a pod that is ready or has done its
 * work. Pure.
 */
export function troubleOf({ metadata: { name }, status }: PodObject): readonly string[] {
  if (status === undefined || status.phase === 'Succeeded') return []
  const unscheduled = status.conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False')
  if (unscheduled !== undefined) return [`${name}: ${wordsOf(unscheduled)}`]
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
  const found = containers.flatMap(({ name: container, state, ready }) => {
    if (state?.waiting !== undefined && state.waiting.reason !== 'PodInitializing')
      return [`${name}, container ${container}: ${wordsOf(state.waiting)}`]
    if (state?.terminated !== undefined && state.terminated.exitCode !== 0)
      return [`${name}, container ${container}: ended with exit code ${state.terminated.exitCode}; ${logOf(name, container)}`]
    const isRunning = state !== undefined && state.waiting === undefined && state.terminated === undefined
    return isRunning && ready === false
      ? [`${name}, container ${container}: runs and is not ready; ${logOf(name, container)}`]
      : []
  })
  return found
}

function wordsOf({ reason, message }: Reason): string {
  return [reason, message].filter(part => part !== undefined && part !== '').join(': ')
}

function logOf(pod: string, container: string): string {
  return `kubectl logs ${pod} -c ${container} -n ${platformNamespace}`
}
