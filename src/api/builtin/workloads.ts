// Deployments, from which the state of a rollout is read, what runs or scales by itself beside them, and Leases.
import type { KubeObject } from '../resource.ts'
import { clusterKind, namespacedKind } from './resource-type.ts'

export type WorkloadCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export type PodTemplate = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: {
    readonly serviceAccountName?: string
    readonly containers: readonly { readonly name: string; readonly image?: string }[]
  }
}

export type Deployment = KubeObject & {
  readonly spec?: {
    readonly replicas?: number
    readonly paused?: boolean
    readonly progressDeadlineSeconds?: number
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly template: PodTemplate
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly WorkloadCondition[]
  }
}
export const deployments = namespacedKind<Deployment>('apps/v1', 'Deployment', 'deployments')

/** What else names images in a tenant's namespace, also as a revision that can be rolled back to. */
export const replicaSets = namespacedKind<KubeObject>('apps/v1', 'ReplicaSet', 'replicasets')
export const statefulSets = namespacedKind<KubeObject>('apps/v1', 'StatefulSet', 'statefulsets')
export const daemonSets = namespacedKind<KubeObject>('apps/v1', 'DaemonSet', 'daemonsets')
export const controllerRevisions = namespacedKind<KubeObject>('apps/v1', 'ControllerRevision', 'controllerrevisions')

export type Job = KubeObject & {
  readonly spec?: { readonly activeDeadlineSeconds?: number; readonly backoffLimit?: number; readonly template: PodTemplate }
  readonly status?: {
    readonly active?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly startTime?: string
    readonly conditions?: readonly WorkloadCondition[]
  }
}
export const jobs = namespacedKind<Job>('batch/v1', 'Job', 'jobs')
export type CronJob = KubeObject & { readonly spec?: { readonly suspend?: boolean; readonly schedule?: string } }
export const cronJobs = namespacedKind<CronJob>('batch/v1', 'CronJob', 'cronjobs')

export type HorizontalPodAutoscaler = KubeObject & {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string }
    readonly minReplicas?: number
    readonly maxReplicas?: number
  }
  readonly status?: { readonly conditions?: readonly WorkloadCondition[] }
}
export const horizontalPodAutoscalers = namespacedKind<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)

export type Lease = KubeObject & {
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    readonly acquireTime?: string | null
    readonly renewTime?: string | null
    readonly leaseTransitions?: number | null
  }
}
export const leases = namespacedKind<Lease>('coordination.k8s.io/v1', 'Lease', 'leases')

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
export type Toleration = {
  readonly key?: string
  /** `Equal` when omitted. */
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

/** The taint of a node that is being drained. */
export const drainTaint = 'node.kubernetes.io/unschedulable'

/** How pods of a class run: https://kubernetes.io/docs/concepts/containers/runtime-class/ */
export type RuntimeClass = KubeObject & {
  readonly handler: string
  readonly scheduling?: { readonly tolerations?: readonly Toleration[] }
}
export const runtimeClasses = clusterKind<RuntimeClass>('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses')
