// The platform's identities as the API server sees them: the one place from which the webhook's rules and the generated
// policies take their names. Rules authorise by identity only; field managers are free text and prove nothing.
import { serviceAccountUser } from '../api/builtin/service-account-user.ts'
import { modes, type PlatformProcess, platformNamespace, platformServiceAccount } from '../api/names.ts'
import { platformAccounts, type Right } from '../api/rights/index.ts'

/** User names that rules name. Platform admins are not among them: a rule says `administratorsMay`. */
export type PlatformIdentities = {
  /** May create Tenants and Installations. */
  readonly brokers: readonly string[]
  /** May write status, finalizers, reserved Secrets and owned grants. */
  readonly controllers: readonly string[]
  /** May write the status and finalizers of the kinds of services, and the Secrets with their credentials. */
  readonly dataServices: readonly string[]
  /** Every user name of the platform, with what it may do. */
  readonly accounts: readonly { readonly username: string; readonly rights: readonly Right[] }[]
  /** Kubernetes' own controllers that delete objects when their namespace or owner is deleted. */
  readonly reapers: readonly string[]
  /**
   * Kubernetes' own controllers that write Endpoints and EndpointSlices; the last without `--use-service-account-credentials`.
   */
  readonly endpointControllers: readonly string[]
  /** Kubernetes' own controller that binds PersistentVolumeClaims; the last without `--use-service-account-credentials`. */
  readonly volumeBinders: readonly string[]
  /** cert-manager where its installation puts it: it fills Secrets with certificates, and marks them as its own. */
  readonly certificateManagers: readonly string[]
  /**
   * What the user names of Kubernetes' own components begin with: controllers, schedulers, kubelets. No other user may have
   * such names.
   */
  readonly kubernetesPrefixes: readonly string[]
}

function user(account: string): string {
  return serviceAccountUser(platformNamespace, account)
}

/** The users that the process has, one in each form. */
function usersOf(process: PlatformProcess): readonly string[] {
  return modes.map(mode => user(platformServiceAccount(mode, process)))
}

/**
 * Who the platform is, in either form: the accounts of the form that a cluster does not have are nobody there
 * (docs/adr/0064-one-set-of-policies-and-roles.md).
 */
export const platformIdentities: PlatformIdentities = {
  brokers: usersOf('broker'),
  controllers: usersOf('controllers'),
  dataServices: usersOf('data-services'),
  accounts: platformAccounts.map(({ name, rights }) => ({ username: user(name), rights })),
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
  volumeBinders: ['system:serviceaccount:kube-system:persistent-volume-binder', 'system:kube-controller-manager'],
  certificateManagers: ['system:serviceaccount:cert-manager:cert-manager'],
  kubernetesPrefixes: [
    'system:serviceaccount:kube-system:',
    'system:node:',
    'system:kube-controller-manager',
    'system:kube-scheduler',
  ],
}
