// Makes or changes one object of a preview. Never changes an object that the AppPipeline does not control. reconcile.ts calls it.
import { type AppPipeline, appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { type Ensured, ensureObject } from '../ensure-object.ts'
import type { Standing } from '../../app-pipeline/choose.ts'
import { isAsDesired, type Manifest } from '../../app-pipeline/desired.ts'

type Written<T> =
  | { readonly kind: 'live'; readonly object: T; readonly changed: boolean }
  | { readonly kind: 'refused'; readonly standing: Standing }

type WithSpec = KubeObject & { readonly spec: object }

/** Rows of a status are many. */
const maxMessage = 400

type Write = { readonly client: Pick<KubeClient, 'get' | 'apply'>; readonly pipeline: AppPipeline; readonly fieldManager: string }

/**
 * `cached`: the object as the cache has it; undefined when it most likely does not exist. @throws KubeError when a retry may
 * succeed
 */
export async function ensurePart<T extends WithSpec>(
  { client, pipeline, fieldManager }: Write,
  type: ResourceType<T>,
  cached: T | undefined,
  desired: Manifest,
): Promise<Written<T>> {
  const isOurs = (live: T): boolean => controllerOf(live)?.uid === pipeline.metadata.uid
  const needsApply = (live: T): boolean => !isAsDesired(live, desired)
  const ensured = await ensureObject({ client, type, fieldManager, cached, isOurs, needsApply }, desired)
  if (ensured.kind === 'live') return ensured
  return { kind: 'refused', standing: standingOf(desired, pipeline, ensured) }
}

type NotLive = Exclude<Ensured<WithSpec>, { readonly kind: 'live' }>

function standingOf({ kind, metadata }: Manifest, pipeline: AppPipeline, ensured: NotLive): Standing {
  if (ensured.kind === 'foreign') {
    const message = `${kind} ${metadata.name} exists and does not belong to AppPipeline ${pipeline.metadata.name}: delete or rename it`
    return { state: 'Failed', reason: reasons.nameConflict, message }
  }
  const message = ensured.message.slice(0, maxMessage)
  if (ensured.because === 'quota') return { state: 'Waiting', reason: reasons.quotaExceeded, message }
  return { state: 'Failed', reason: reasons.refusedByCluster, message }
}
