// The kind that extends the API server with kinds.
import type { KubeObject } from '../resource.ts'
import { clusterKind } from './resource-type.ts'

export type CustomResourceDefinition = KubeObject & {
  readonly spec: { readonly group: string; readonly names: { readonly kind: string; readonly plural: string } }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}
export const customResourceDefinitions = clusterKind<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)
