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

/** How API servers call webhooks, as far as we read it: by which authorities they verify them. */
export type WebhookConfiguration = KubeObject & {
  /** `caBundle` is base64 of PEM. */
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[]
}
const registration = 'admissionregistration.k8s.io/v1'
export const validatingWebhookConfigurations = clusterKind<WebhookConfiguration>(
  registration,
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)
export const mutatingWebhookConfigurations = clusterKind<WebhookConfiguration>(
  registration,
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
