// The closed list of the kinds that a chart may render, all namespaced. Any other kind is refused: adding one is a security
// decision.
import {
  configMaps,
  cronJobs,
  deployments,
  horizontalPodAutoscalers,
  ingresses,
  networkPolicies,
  persistentVolumeClaims,
  serviceAccounts,
  services,
} from '../../../api/builtin/index.ts'
import { isOf, type ResourceType } from '../../../api/resource.ts'

function kind(apiVersion: string, name: string, plural: string): ResourceType {
  return { apiVersion, kind: name, plural, namespaced: true }
}

/** In the order of apply: what others refer to comes first. */
export const renderableKinds: readonly ResourceType[] = [
  serviceAccounts,
  configMaps,
  services,
  persistentVolumeClaims,
  deployments,
  kind('batch/v1', 'Job', 'jobs'),
  cronJobs,
  horizontalPodAutoscalers,
  kind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  ingresses,
]

/** The kind of an object; undefined when charts may not render it. */
export function renderableKind(object: { readonly apiVersion: string; readonly kind: string }): ResourceType | undefined {
  return renderableKinds.find(type => isOf(type, object))
}

/** In the order of apply, with what the platform adds to what a chart rendered: what pods reach comes before them. */
export const appliedKinds: readonly ResourceType[] = [networkPolicies, ...renderableKinds]

/** The kind of an object of an Application; undefined for another one. */
export function appliedKind(object: { readonly apiVersion: string; readonly kind: string }): ResourceType | undefined {
  return appliedKinds.find(type => isOf(type, object))
}

/** The kinds by name, for messages. */
export const renderableText: string = renderableKinds.map(type => type.kind).join(', ')
