// Deployments, from which the state of a rollout is read, and Leases.
import type { KubeObject } from '../resource.ts'
import { namespacedKind } from './resource-type.ts'

export type WorkloadCondition = {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastUpdateTime?: string
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
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> }
    readonly template: PodTemplate
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly unavailableReplicas?: number
    readonly conditions?: readonly WorkloadCondition[]
  }
}
export const deployments = namespacedKind<Deployment>('apps/v1', 'Deployment', 'deployments')

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
