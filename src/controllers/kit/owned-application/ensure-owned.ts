// Makes or changes what one owned Application consists of. Never changes an object that the owner does not control.

import { type Application, application as applications } from '../../../api/apps/application.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { ownedReasons as reasons } from '../../../api/capabilities/application-owner.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf, uidOf } from '../../../kube/object/owner.ts'
import { type Ensured, ensureObject } from '../ensure-object.ts'
import { isAsDesired, type Manifest } from './manifest.ts'
import type { Owned } from './owned.ts'
import type { OwnedStanding } from './state.ts'

type Live<T> = { readonly object: T; readonly changed: boolean }

export type KeptOwned =
  | { readonly kind: 'live'; readonly application: Live<Application>; readonly remoteSync: Live<RemoteSync> | undefined }
  | { readonly kind: 'refused'; readonly standing: OwnedStanding }

/** Without a source there is no RemoteSync. */
export type DesiredOwned = { readonly application: Manifest; readonly remoteSync: Manifest | undefined }

type WithSpec = KubeObject & { readonly spec: object }

/** Rows of a status are many. */
const maxMessage = 400

export type OwnedWrite = {
  readonly client: Pick<KubeClient, 'get' | 'apply'>
  readonly owner: KubeObject
  readonly fieldManager: string
}

/**
 * The Application first: a RemoteSync without one reports an error. `exists`: as the cache has it.
 * @throws KubeError when a retry may succeed
 */
export async function ensureOwned(write: OwnedWrite, exists: Partial<Owned>, desired: DesiredOwned): Promise<KeptOwned> {
  const application = await ensurePart(write, applications, exists.application, desired.application)
  if (application.kind === 'refused') return application
  if (desired.remoteSync === undefined) return { kind: 'live', application, remoteSync: undefined }
  const remoteSync = await ensurePart(write, remoteSyncs, exists.remoteSync, desired.remoteSync)
  return remoteSync.kind === 'refused' ? remoteSync : { kind: 'live', application, remoteSync }
}

type Written<T> = (Live<T> & { readonly kind: 'live' }) | Extract<KeptOwned, { readonly kind: 'refused' }>

/** One object of it. @throws KubeError when a retry may succeed */
export async function ensurePart<T extends WithSpec>(
  { client, owner, fieldManager }: OwnedWrite,
  type: ResourceType<T>,
  cached: T | undefined,
  desired: Manifest,
): Promise<Written<T>> {
  const isOurs = (live: T): boolean => controllerOf(live)?.uid === uidOf(owner)
  const needsApply = (live: T): boolean => !isAsDesired(live, desired)
  const ensured = await ensureObject({ client, type, fieldManager, cached, isOurs, needsApply }, desired)
  if (ensured.kind === 'live') return ensured
  return { kind: 'refused', standing: standingOf(desired, owner, ensured) }
}

type NotLive = Exclude<Ensured<WithSpec>, { readonly kind: 'live' }>

function standingOf({ kind, metadata }: Manifest, owner: KubeObject, ensured: NotLive): OwnedStanding {
  if (ensured.kind === 'foreign') {
    const message = `${kind} ${metadata.name} exists and does not belong to ${owner.kind} ${owner.metadata.name}: delete or rename it`
    return { state: 'Failed', reason: reasons.nameConflict, message }
  }
  const message = ensured.message.slice(0, maxMessage)
  if (ensured.because === 'quota') return { state: 'Waiting', reason: reasons.quotaExceeded, message }
  return { state: 'Failed', reason: reasons.refusedByCluster, message }
}
