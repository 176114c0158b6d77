// A Kubernetes object with the few fields that this folder reads.

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

/** Marks the objects of this installer; an object without the label belongs to another installation and is not changed. */
export const managedByLabel = 'app.kubernetes.io/managed-by'
export const managedByUs = 'sekisho-dev'

export function withLabel(object: KubernetesObject): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [managedByLabel]: managedByUs } } }
}
