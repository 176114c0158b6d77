// What the composition of the controllers receives from its process.
import type { Mode } from '../api/names.ts'
import type { ServiceDeps } from '../services/deps.ts'
import type { ControllersSettings } from './config.ts'

export type ControllersDeps = ServiceDeps<ControllersSettings> & {
  /** Decides the ServiceAccounts that get rights in tenants' namespaces. */
  readonly mode: Mode
}
