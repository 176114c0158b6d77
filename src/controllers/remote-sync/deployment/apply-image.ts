// Sets image and commit on the Application of a RemoteSync, as the field manager of RemoteSyncs.
import { type Application, application as applications } from '../../../api/apps/application.ts'
import { promotedAnnotation, rebasedAnnotation } from '../../../api/names.ts'
import type { Applied, KubeClient } from '../../../kube/client/client.ts'
import { isGone } from '../../../kube/client/errors.ts'
import type { BuiltImage } from '../desired.ts'

export const fieldManager = 'sekisho.dev/remote-sync'

export type ApplyDeps = { readonly client: Pick<KubeClient, 'apply'> }

/**
 * The two fields of an Application that a RemoteSync owns, and how it got the image without a build, which the Release says.
 * With the uid, so that the apply never creates an Application.
 */
function desiredApplication({ metadata }: Application, { image, commit, isPromoted, isRebased }: BuiltImage): Applied {
  const { name, namespace = '', uid = '' } = metadata
  const { apiVersion, kind } = applications
  const origin = isPromoted ? { [promotedAnnotation]: commit } : isRebased === true ? { [rebasedAnnotation]: image } : undefined
  const annotations = origin === undefined ? {} : { annotations: origin }
  return { apiVersion, kind, metadata: { name, namespace, uid, ...annotations }, spec: { image, commit } }
}

/** Resolves to undefined when the Application is gone. @throws KubeError */
export function applyImage({ client }: ApplyDeps, application: Application, built: BuiltImage): Promise<Application | undefined> {
  return client
    .apply(applications, desiredApplication(application, built), { fieldManager, force: true })
    .catch((error: unknown) => {
      if (isGone(error)) return undefined
      throw error
    })
}
