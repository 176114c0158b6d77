// How the pod of a build ended, beside what its log says: by a limit of the build, or by something of the platform. Pure; for
// all builders.
import type { Pod } from '../../api/builtin/index.ts'
import type { Cause } from './cause/cause.ts'

export type PodEnd = {
  /** The build met one of its own limits. */
  readonly cause?: Cause
  /** What of the platform failed, in words. */
  readonly platformFailure?: string
}

const ownStorage = /ephemeral local storage usage exceeds|exceeded its local ephemeral storage limit|usage of EmptyDir volume/i
/** What ends a pod because of its node. Source: https://kubernetes.io/docs/concepts/scheduling-eviction/ */
const nodeReasons: readonly string[] = [
  ...['Evicted', 'NodeLost', 'NodeShutdown', 'NodeAffinity', 'Shutdown', 'Terminated', 'Preempting', 'UnexpectedAdmissionError'],
  ...['OutOfcpu', 'OutOfmemory', 'OutOfephemeral-storage', 'OutOfpods'],
]
const imageReasons: readonly string[] = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'RegistryUnavailable']

function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, ' ').trim().slice(0, 200)
}

/** Empty when neither a limit nor the platform ended it. */
export function podEnd(pod: Pod | undefined): PodEnd {
  const { reason = '', message = '' } = pod?.status ?? {}
  const statuses = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])]
  if (reason === 'Evicted' && ownStorage.test(message))
    return {
      cause: {
        sentence: 'the build used more disk space than it may: set spec.build.resources.ephemeralStorage, or let it write less',
        line: oneLine(message),
      },
    }
  if (nodeReasons.includes(reason)) return { platformFailure: `the node ended the build (${oneLine(`${reason} ${message}`)})` }
  const waiting = statuses.find(({ state }) => imageReasons.includes(state?.waiting?.reason ?? ''))
  if (waiting !== undefined)
    return { platformFailure: `the image of step ${waiting.name} could not be pulled (${waiting.state?.waiting?.reason})` }
  if (statuses.some(({ state }) => state?.terminated?.reason === 'OOMKilled'))
    return {
      cause: {
        sentence: 'the build used more memory than it may and was killed: set spec.build.resources.memory, or let it need less',
        line: 'OOMKilled',
      },
    }
  return {}
}
