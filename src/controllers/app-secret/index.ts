// Wires the AppSecret controller. Decides nothing. It watches AppSecrets only: nobody may list Secrets, and one that was
// changed or deleted behind its back is repaired by the resync.
import { appSecret } from '../../api/apps/app-secret.ts'
import type { SecretKeys } from '../../identity/sealed-values/secret-keys.ts'
import type { ControllerDefinition } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { reportInStatus, withMissingRights } from '../kit/missing-right.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { fieldManager, reconcileAppSecret } from './reconcile.ts'

export type AppSecretControllerDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly events: Pick<EventRecorder, 'record'>
  readonly keys: SecretKeys
  readonly clock: Clock
}

/** Call before the manager starts: caches cannot be added later. */
export function createAppSecretController({ manager, events, keys, clock }: AppSecretControllerDeps): ControllerDefinition {
  const { client } = manager
  const cache = manager.cache(appSecret)
  const status = createStatusWriter({ type: appSecret, fieldManager, client, cache, events })
  const definition: ControllerDefinition = {
    name: 'app-secret',
    for: appSecret,
    reconcile: context => reconcileAppSecret({ cache, client, status, keys, clock }, context),
  }
  return withMissingRights(definition, { cache, says: reportInStatus(status, clock), clock })
}
