// Ends owned Applications: what builds them first, then a last release job where the owner asks for one, then the Application.
import { application as applications } from '../../../api/apps/application.ts'
import { remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { uidOf } from '../../../kube/object/owner.ts'
import type { Clock } from '../../../lib/clock.ts'
import { endStep, type LastHook } from './last-hook.ts'
import type { Owned } from './owned.ts'

export type RemovalDeps = {
  readonly client: Pick<KubeClient, 'mergePatch' | 'delete'>
  readonly clock: Clock
  readonly fieldManager: string
  /** Runs before an Application is deleted. */
  readonly hook: LastHook | undefined
}

/**
 * May be repeated until nothing is left. Resolves to how long hooks may still take, in milliseconds.
 * @throws KubeError 409, so that the key is retried, when the cache is behind
 */
export async function removeOwned(deps: RemovalDeps, all: readonly Owned[]): Promise<readonly number[]> {
  const waits: number[] = []
  for (const owned of all) {
    const wait = await removeOne(deps, owned)
    if (wait !== undefined) waits.push(wait)
  }
  return waits
}

/** The RemoteSync first: it would build for an Application that is gone. */
async function removeOne(deps: RemovalDeps, { application, remoteSync }: Owned): Promise<number | undefined> {
  const { client, clock, fieldManager, hook } = deps
  await removePart(deps, remoteSyncs, remoteSync)
  if (application === undefined || application.metadata.deletionTimestamp !== undefined) return undefined
  const step = endStep(hook, application, clock.now())
  if (step.kind === 'delete') await removePart(deps, applications, application)
  if (step.kind === 'begin') await client.mergePatch(applications, keyOf(application), step.patch, { fieldManager })
  return step.kind === 'delete' ? undefined : step.milliseconds
}

/** Deletes what is not being deleted, and nothing that has its name by now. @throws KubeError */
export async function removePart<T extends KubeObject>(
  { client }: { readonly client: Pick<KubeClient, 'delete'> },
  type: ResourceType<T>,
  object: T | undefined,
): Promise<void> {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
  await client.delete(type, keyOf(object), { uid: uidOf(object) })
}
