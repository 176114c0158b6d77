// The kind that extends the API server with kinds.
import type { KubeObject, ResourceType } from '../resource.ts'
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
/** Policies of admission; what is in them is only compared. */
const policyKind = (version: string, kind: string): ResourceType =>
  clusterKind(
    `admissionregistration.k8s.io/${version}`,
    kind,
    kind.endsWith('y') ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`,
  )
export const validatingAdmissionPolicies = policyKind('v1', 'ValidatingAdmissionPolicy')
export const validatingAdmissionPolicyBindings = policyKind('v1', 'ValidatingAdmissionPolicyBinding')
/** As Kubernetes 1.34 and 1.35 serve them, then as later ones do. */
export const mutatingAdmissionPolicies = ['v1beta1', 'v1'].map(version => policyKind(version, 'MutatingAdmissionPolicy'))
export const mutatingAdmissionPolicyBindings = ['v1beta1', 'v1'].map(version =>
  policyKind(version, 'MutatingAdmissionPolicyBinding'),
)
export const mutatingWebhookConfigurations = clusterKind<WebhookConfiguration>(
  registration,
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)
