// What the composition of the controllers receives from its process.
import type { Mode } from '../api/names.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { ServiceDeps } from '../services/deps.ts'
import type { ControllersSettings } from './config.ts'

export type ControllersDeps = ServiceDeps<ControllersSettings> & {
  /** Decides the ServiceAccounts that get rights in tenants' namespaces. */
  readonly mode: Mode
  /** A client of the API server with this token as its only credential. Close it. */
  readonly kubeWith: (token: SecretString) => KubeClient & { readonly close: () => Promise<void> }
}
