// Sets image and commit on the Application of a RemoteSync, as the field manager of RemoteSyncs.
import { type Application, application as applications } from '../../../api/apps/application.ts'
import type { Applied, KubeClient } from '../../../kube/client/client.ts'
import { isGone } from '../../../kube/client/errors.ts'

export const fieldManager = 'sekisho.dev/remote-sync'

export type ApplyDeps = { readonly client: Pick<KubeClient, 'apply'> }

/** Resolves to undefined when the Application is gone. @throws KubeError */
export function applyImage({ client }: ApplyDeps, desired: Applied): Promise<Application | undefined> {
  return client.apply(applications, desired, { fieldManager, force: true }).catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })
}
