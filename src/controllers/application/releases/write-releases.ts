// Writes Releases and release jobs: creates them once, and deletes what is not kept. Creating is what makes a number and a job
// unique: whatever a crash or a late cache repeats finds the object under its name.
import type { Application } from '../../../api/apps/application.ts'
import { type Release, release as releases } from '../../../api/apps/release.ts'
import { type Job, jobs } from '../../../api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { KubeClient, NewObject } from '../../../kube/client/client.ts'
import { isKubeError, KubeError } from '../../../kube/client/errors.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { fieldManager } from '../field-manager.ts'

/** The client, and the Application to which everything belongs. */
export type ReleaseTarget = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete'>
  readonly application: Application
}

/** @throws KubeError 409 when another owner has an object of that name: that of an Application that was deleted goes by itself */
async function createOrFind<T extends KubeObject>(
  { client, application }: ReleaseTarget,
  type: ResourceType<T>,
  object: NewObject<T>,
): Promise<T> {
  try {
    return await client.create(type, object, { fieldManager })
  } catch (error) {
    if (!isKubeError(error, 409)) throw error
    const { name = '', namespace = '' } = object.metadata
    const live = await client.get(type, { namespace, name })
    if (live && controllerOf(live)?.uid === application.metadata.uid) return live
    const message = `${type.kind} ${namespace}/${name} exists and belongs to another owner: it is created again when that one is gone`
    throw new KubeError(message, { status: 409, reason: 'Conflict' })
  }
}

/**
 * Creates the Release, or finds the one that an earlier run created.
 * @throws KubeError 409, so that the key is retried, when the number belongs to other content: the cache is behind the API server
 */
export async function createRelease(target: ReleaseTarget, desired: NewObject<Release>): Promise<Release> {
  const created = await createOrFind(target, releases, desired)
  if (created.spec.hash === desired.spec.hash && created.spec.reason === desired.spec.reason) return created
  const message = `Release ${created.metadata.name} exists with other content: the cache is behind the API server`
  throw new KubeError(message, { status: 409, reason: 'Conflict' })
}

/** Creates the Job, or finds the one that an earlier run created. */
export function startJob(target: ReleaseTarget, desired: NewObject<Job>): Promise<Job> {
  return createOrFind(target, jobs, desired)
}

/** Deletes what is no longer kept. */
export async function deleteAll(
  { client }: ReleaseTarget,
  type: ResourceType,
  surplus: readonly Pick<KubeObject, 'metadata'>[],
): Promise<void> {
  for (const { metadata } of surplus) {
    const { namespace = '', name, uid } = metadata
    if (uid !== undefined) await client.delete(type, { namespace, name }, { uid })
  }
}
