// The kinds of the core group that we read or write, with the fields that we use and no others.
import type { KubeObject } from '../resource.ts'
import { clusterKind, namespacedKind } from './resource-type.ts'

export type Namespace = KubeObject & {
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}
export const namespaces = clusterKind<Namespace>('v1', 'Namespace', 'namespaces')

type ContainerState = {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly reason?: string
    readonly message?: string
    readonly startedAt?: string
    readonly finishedAt?: string
  }
}

export type ContainerStatus = {
  readonly name: string
  readonly ready: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

export type Pod = KubeObject & {
  readonly spec?: {
    readonly serviceAccountName?: string
    readonly nodeName?: string
    readonly activeDeadlineSeconds?: number
    readonly initContainers?: readonly {
      readonly name: string
      readonly env?: readonly { readonly name: string; readonly value?: string }[]
    }[]
    readonly containers: readonly {
      readonly name: string
      readonly image?: string
      readonly command?: readonly string[]
      readonly readinessProbe?: object
    }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly startTime?: string
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
      readonly lastTransitionTime?: string
    }[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}
export const pods = namespacedKind<Pod>('v1', 'Pod', 'pods')

/** `data` is base64. Code outside of the client holds its values as SecretString only. */
export type Secret = KubeObject & {
  readonly type?: string
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}
export const secrets = namespacedKind<Secret>('v1', 'Secret', 'secrets')

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>>; readonly immutable?: boolean }
export const configMaps = namespacedKind<ConfigMap>('v1', 'ConfigMap', 'configmaps')

export type ServicePort = {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
  readonly protocol?: string
}
export type Service = KubeObject & {
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly ServicePort[]
  }
}
export const services = namespacedKind<Service>('v1', 'Service', 'services')

export type PersistentVolumeClaim = KubeObject & {
  readonly spec?: { readonly storageClassName?: string; readonly volumeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[]
  }
}
export const persistentVolumeClaims = namespacedKind<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
)

export type ServiceAccount = KubeObject & {
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly { readonly name: string }[]
}
export const serviceAccounts = namespacedKind<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts')

export type ResourceQuota = KubeObject & {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> }
  readonly status?: { readonly hard?: Readonly<Record<string, string>>; readonly used?: Readonly<Record<string, string>> }
}
export const resourceQuotas = namespacedKind<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas')

export type LimitRange = KubeObject & { readonly spec?: { readonly limits: readonly object[] } }
export const limitRanges = namespacedKind<LimitRange>('v1', 'LimitRange', 'limitranges')

export type CoreEvent = KubeObject & {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly reportingComponent?: string
  readonly involvedObject: {
    readonly apiVersion?: string
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
    readonly uid?: string
  }
}
export const events = namespacedKind<CoreEvent>('v1', 'Event', 'events')
