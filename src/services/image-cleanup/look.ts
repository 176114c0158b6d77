// Looks at everything in a tenant's two namespaces that may name an image. It asks the API server, never a cache, and reads
// every page: an answer that is not whole rejects. What exists in a namespace that is gone is nothing.

import { remoteSync } from '../../api/apps/remote-sync.ts'
import {
  controllerRevisions,
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  pods,
  replicaSets,
  statefulSets,
} from '../../api/builtin/index.ts'
import { buildNamespaceOf, labels } from '../../api/names.ts'
import { kinds } from '../../api/registry.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { ClusterNames } from './decide.ts'
import { createImageNames } from './named-images.ts'

/** A kind of build objects, in build namespaces. */
export type BuildKind = {
  readonly type: ResourceType
  readonly labelSelector: string
  /** Whether the build has succeeded or failed. */
  readonly hasEnded: (build: KubeObject) => boolean
}

export type LookDeps = {
  readonly client: Pick<KubeClient, 'snapshot'>
  readonly buildKinds: readonly BuildKind[]
}

export type ClusterLook = ClusterNames & {
  /** Applications for which a build runs: it may push or reuse anything of theirs at any moment. */
  readonly building: ReadonlySet<string>
}

/** Kinds of ours with every field that may name an image; those of later versions are among them. */
const ofPlatform: readonly ResourceType[] = kinds.filter(({ group, namespaced }) => namespaced && group.startsWith('apps.'))
const ofKubernetes: readonly ResourceType[] = [
  pods,
  deployments,
  replicaSets,
  statefulSets,
  daemonSets,
  controllerRevisions,
  jobs,
  cronJobs,
]

/** Rejects with KubeError when anything cannot be read. `signal` aborts it. */
export async function lookAtCluster(
  { client, buildKinds }: LookDeps,
  namespace: string,
  signal: AbortSignal,
): Promise<ClusterLook> {
  const { add, names } = createImageNames()
  const remoteSyncs = new Set<string>()
  const building = new Set<string>()

  /** Objects are read one page at a time, and nothing of them is kept. */
  async function read(type: ResourceType, place: { namespace: string; labelSelector?: string }, see: (item: KubeObject) => void) {
    const keep = (item: KubeObject): KubeObject => {
      add(JSON.stringify(item))
      see(item)
      return { apiVersion: item.apiVersion, kind: item.kind, metadata: { name: item.metadata.name } }
    }
    await client.snapshot(type, { ...place, keep, signal })
  }

  // One after the other: nobody waits for it, and it must not compete with reconciles. Builds first: one that ends meanwhile
  // has set its image on the objects that are read afterwards, or still exists as a build that ran.
  for (const { type, labelSelector, hasEnded } of buildKinds)
    await read(type, { namespace: buildNamespaceOf(namespace), labelSelector }, build => {
      const application = build.metadata.labels?.[labels.application]
      if (!hasEnded(build) && application !== undefined) building.add(application)
    })
  for (const type of [...ofPlatform, ...ofKubernetes])
    await read(type, { namespace }, ({ metadata }) => {
      if (type.kind === remoteSync.kind && metadata.uid !== undefined) remoteSyncs.add(metadata.uid)
    })
  return { ...names(), remoteSyncs, building }
}
