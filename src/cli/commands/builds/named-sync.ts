// Which RemoteSync a person means by the name of an Application that it builds among others, so that nobody need know how the
// RemoteSync is named.
import { runsIn } from '../../../api/apps/remote-sync/applications.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { remoteSyncs } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { syncOf } from './chosen-build.ts'

/** The name itself where a RemoteSync has it, where it is that of no Application, and where RemoteSyncs cannot be read. */
export async function syncNamed(context: ClusterContext, name: string): Promise<string> {
  const { cluster, terminal } = context
  if ((await syncOf(context, name)) !== undefined) return name
  try {
    const all = await cluster.client.list(remoteSyncs, { namespace: cluster.namespace })
    const [builds, ...others] = all.filter(({ spec }) => runsIn(spec, name)).map(({ metadata }) => metadata.name)
    if (builds === undefined || others.length > 0) return name
    terminal.say(`${name} is built by RemoteSync ${builds}`)
    return builds
  } catch (error) {
    if (isKubeError(error)) return name
    throw error
  }
}
