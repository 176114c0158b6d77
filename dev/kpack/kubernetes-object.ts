// A Kubernetes object as this folder reads and writes it: plain data with the few fields that are looked at.

export type KubernetesObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** Says that an object was put there by this installer; what lacks it belongs to somebody else and is left alone. */
export const managedByLabel = 'app.kubernetes.io/managed-by'
export const managedByUs = 'sekisho-dev'

export function withLabel(object: KubernetesObject): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [managedByLabel]: managedByUs } } }
}
