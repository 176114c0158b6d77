// How commands change an Application: they read it, send what changes with the version that was read, and begin again when
// somebody else wrote in between, so that no change of another person or of the platform is lost.
import type { Application } from '../../../api/apps/application.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { absent, type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { applications } from '../../kubernetes/kinds.ts'

const attempts = 5

export type Change = { readonly before: Application; readonly after: Application }

/**
 * `patchOf` gives a merge patch of `spec` (RFC 7386), or undefined when nothing has to change; it is called again after a
 * conflict. With `dryRun` the API server judges the patch and stores nothing. Rejects with `not_found`, and with what the API
 * server refuses.
 */
export async function changeApplication(
  cluster: Cluster,
  name: string,
  dryRun: boolean | undefined,
  patchOf: (application: Application) => object | undefined,
): Promise<Change> {
  const { client, namespace } = cluster
  for (let attempt = 1; ; attempt += 1) {
    const before = await found(cluster, applications, name)
    const spec = patchOf(before)
    if (spec === undefined) return { before, after: before }
    const metadata = { resourceVersion: before.metadata.resourceVersion }
    try {
      const after = await client.mergePatch(
        applications,
        { name, namespace },
        { metadata, spec },
        { fieldManager, dryRun: dryRun === true },
      )
      return { before, after: after ?? (await absent(cluster, applications, name)) }
    } catch (error) {
      if (!isKubeError(error, 409) || attempt === attempts) throw error
    }
  }
}
