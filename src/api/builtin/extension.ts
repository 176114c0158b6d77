// The kinds that extend the API server: CustomResourceDefinitions and the registrations of admission webhooks.
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

export type WebhookEntry = {
  readonly name: string
  readonly failurePolicy?: string
  readonly clientConfig: {
    readonly caBundle?: string
    readonly url?: string
    readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number }
  }
}

const admission = 'admissionregistration.k8s.io/v1'

export type ValidatingWebhookConfiguration = KubeObject & { readonly webhooks?: readonly WebhookEntry[] }
export const validatingWebhookConfigurations = clusterKind<ValidatingWebhookConfiguration>(
  admission,
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)

export type MutatingWebhookConfiguration = KubeObject & { readonly webhooks?: readonly WebhookEntry[] }
export const mutatingWebhookConfigurations = clusterKind<MutatingWebhookConfiguration>(
  admission,
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
