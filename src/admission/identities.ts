// The platform's identities as the API server sees them: the one place from which the webhook's rules and the generated policies take their
// names. Rules authorise by identity only; field managers are free text and prove nothing.
import { platformNamespace } from '../api/names.ts'

/** User names that rules name. Platform admins are not among them: a rule says `administratorsMay`. */
export type PlatformIdentities = {
  /** May create Tenants and Installations. */
  readonly brokers: readonly string[]
  /** May write status, finalizers, reserved Secrets and owned grants. */
  readonly controllers: readonly string[]
  /** Kubernetes' own controllers that delete objects when their namespace or owner is deleted. */
  readonly reapers: readonly string[]
  /** Kubernetes' own controllers that write Endpoints and EndpointSlices; the last without `--use-service-account-credentials`. */
  readonly endpointControllers: readonly string[]
  /** What the user names of Kubernetes' own components begin with: controllers, schedulers, kubelets. No other user may have such names. */
  readonly kubernetesPrefixes: readonly string[]
}

/** Broker and controllers run in one process, under one ServiceAccount (src/standalone.ts, deploy/rbac/platform.yaml). */
export function platformIdentities(): PlatformIdentities {
  const platform = [`system:serviceaccount:${platformNamespace}:sekisho`]
  return {
    brokers: platform,
    controllers: platform,
    reapers: [
      'system:serviceaccount:kube-system:namespace-controller',
      'system:serviceaccount:kube-system:generic-garbage-collector',
    ],
    endpointControllers: [
      'system:serviceaccount:kube-system:endpoint-controller',
      'system:serviceaccount:kube-system:endpointslice-controller',
      'system:serviceaccount:kube-system:endpointslicemirroring-controller',
      'system:kube-controller-manager',
    ],
    kubernetesPrefixes: [
      'system:serviceaccount:kube-system:',
      'system:node:',
      'system:kube-controller-manager',
      'system:kube-scheduler',
    ],
  }
}
