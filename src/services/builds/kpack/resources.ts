// The two kinds of kpack that the platform uses, with the fields that it reads and writes. Source: kpack v0.17.2, API
// kpack.io/v1alpha2.
import type { KubeObject, ResourceType } from '../../../api/resource.ts'

const apiVersion = 'kpack.io/v1alpha2'

type KpackCondition = { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }
type StepState = {
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: { readonly startedAt?: string; readonly exitCode?: number }
}

export type KpackBuild = KubeObject & {
  readonly spec: {
    readonly tags: readonly string[]
    readonly source: { readonly git?: { readonly url: string; readonly revision: string }; readonly subPath?: string }
    readonly activeDeadlineSeconds?: number
  } & Readonly<Record<string, unknown>>
  readonly status?: {
    readonly conditions?: readonly KpackCondition[]
    readonly latestImage?: string
    readonly podName?: string
    /** `runImage`: on which `latestImage` is, by digest. */
    readonly stack?: { readonly id?: string; readonly runImage?: string }
    readonly stepStates?: readonly StepState[]
    readonly stepsCompleted?: readonly string[]
  }
}

export const kpackBuilds: ResourceType<KpackBuild> = { apiVersion, kind: 'Build', plural: 'builds', namespaced: true }

export type ClusterBuilder = KubeObject & {
  readonly status?: {
    readonly latestImage?: string
    readonly stack?: { readonly id?: string; readonly runImage?: string }
    readonly conditions?: readonly KpackCondition[]
  }
}

export const clusterBuilders: ResourceType<ClusterBuilder> = {
  apiVersion,
  kind: 'ClusterBuilder',
  plural: 'clusterbuilders',
  namespaced: false,
}

/** kpack is installed when this CRD exists. */
export const kpackBuildCrd = 'builds.kpack.io'

/** By this kpack decides that a Build with a `lastBuild` of the same stack only exchanges the run image. */
export const rebaseAnnotation = 'image.kpack.io/reason'
export const rebaseReason = 'STACK'

/** In the order in which the build pod runs them. */
const kpackSteps: readonly string[] = ['prepare', 'analyze', 'detect', 'restore', 'build', 'export', 'completion']
const rebaseSteps: readonly string[] = ['rebase', 'completion']

/** Whether the Build exchanges the run image of an image, and reads no source. */
export function isRebase({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[rebaseAnnotation] === rebaseReason
}

/** The containers of its pod, in the order in which they run. */
export function stepsOf(build: KubeObject): readonly string[] {
  return isRebase(build) ? rebaseSteps : kpackSteps
}
