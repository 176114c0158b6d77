// Whether a decision was made from the spec that the Application has now: the cache can be behind the API server, after a
// restart by a lot. What an outdated Application says may create its first Release and objects, which somebody asked for; it
// must neither become a later Release, which would undo a newer one, nor change or delete existing objects. Only reads.
import { type Application, application as applications } from '../../api/apps/application.ts'
import { keyOf } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { once } from '../../lib/limits/once.ts'

/**
 * Resolves to the Application as the API server has it, with `managedFields`.
 * @throws KubeError 409, so that the key is retried, when it has another spec by now
 */
export type LiveApplication = () => Promise<Application>

async function read(client: Pick<KubeClient, 'get'>, cached: Application): Promise<Application> {
  const { name, namespace = '', uid, generation } = cached.metadata
  const live = await client.get(applications, keyOf(cached))
  if (live && live.metadata.uid === uid && live.metadata.generation === generation) return live
  const message = `Application ${namespace}/${name}: the cache is behind the API server`
  throw new KubeError(message, { status: 409, reason: 'Conflict' })
}

/**
 * For one reconcile, which may ask several times: only the first asks the API server. A change after that answer wakes the
 * Application again, as one between two writes does.
 */
export function liveApplication(client: Pick<KubeClient, 'get'>, cached: Application): LiveApplication {
  return once(() => read(client, cached))
}
