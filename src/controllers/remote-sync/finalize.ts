// What a RemoteSync leaves behind is ended before it goes: its builds (in another namespace, out of the garbage collector's reach) and the
// addresses of its sources. The grant goes by its owner reference; the Application stays and keeps serving.
import { type RemoteSync, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { done, type Outcome } from '../../kube/controller/controller.ts'
import { removeFinalizer } from '../../kube/object/finalizers.ts'
import type { RemoteSyncDeps } from './run.ts'

export const finalizer = 'sekisho.dev/remote-sync'

type Deps = Pick<RemoteSyncDeps, 'client' | 'builder' | 'sources'>

/** Repeats safely: every step accepts that it was done before. */
export async function finalize(deps: Deps, remoteSync: RemoteSync): Promise<Outcome> {
  if (!remoteSync.metadata.finalizers?.includes(finalizer)) return done
  const { namespace = '', name, uid = '' } = remoteSync.metadata
  for (const { key } of deps.builder.ofOwner({ namespace, name, uid })) await deps.builder.cancel(key)
  await deps.sources.revokeOwner(uid)
  await removeFinalizer(deps.client, remoteSyncs, remoteSync, finalizer)
  return done
}
