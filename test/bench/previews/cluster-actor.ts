// Acts as kpack and as the kubelet: a build ends at once with an image of its commit in a small registry, unless it is held,
// and a pod runs at once. So what is measured is the platform's share alone. It also remembers when builds went, by the clock
// of this process.
import { type AdminClient, adminClientFor } from '../../../dev/cluster/control-plane/admin-client.ts'
import { type Pod, pods } from '../../../src/api/builtin/index.ts'
import { buildScope } from '../../../src/services/builds/kpack/build-manifest.ts'
import { type KpackBuild, kpackBuilds } from '../../../src/services/builds/kpack/resources.ts'
import { kpackDefinitions } from '../../fixtures/kpack-definitions.ts'
import { openKube } from '../../fixtures/open-kube.ts'
import type { SmallRegistry } from '../../fixtures/small-registry.ts'
import { runningStatus } from '../../fixtures/write-status.ts'
import { createFollower, type Seen } from '../harness/follow.ts'

export type ClusterActor = {
  /** Builds of this commit go on until they are released. */
  readonly hold: (commit: string) => void
  readonly release: (commit: string) => Promise<void>
  /** When a build of the commit began; by `performance.now()`. */
  readonly begunAt: (commit: string) => number | undefined
  /** When the last build of the commit was ended from outside; by `performance.now()`. */
  readonly goneAt: (commit: string) => number | undefined
  readonly ended: () => number
  readonly close: () => Promise<void>
}

const json = 'application/merge-patch+json'
const establishMilliseconds = 30_000

/** kpack's kinds and the builder that the platform names; call before the platform starts. */
export async function installKpack(admin: AdminClient): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const definition of kpackDefinitions) await admin.call('POST', definitions, definition)
  const metadata = { name: 'sekisho' }
  const builder = { apiVersion: 'kpack.io/v1alpha2', kind: 'ClusterBuilder', metadata }
  const path = '/apis/kpack.io/v1alpha2/clusterbuilders'
  const until = Date.now() + establishMilliseconds
  while ((await admin.request('POST', path, builder)).status >= 300)
    if (Date.now() > until) throw new Error('the kinds of kpack were not established')
  const status = { latestImage: 'registry.example.com/builder@sha256:1', stack: { id: 'base' } }
  await admin.call('PATCH', `${path}/sekisho/status`, { status }, json)
}

const commitOf = ({ spec }: KpackBuild): string => spec.source.git?.revision ?? ''

export async function startClusterActor(kubeconfig: string, registry: SmallRegistry): Promise<ClusterActor> {
  const admin = await adminClientFor(kubeconfig)
  const client = await openKube(kubeconfig)
  const follower = createFollower(client)
  const held = new Map<string, KpackBuild | undefined>()
  const begun = new Map<string, number>()
  const gone = new Map<string, number>()
  const done = new Set<string>()

  async function endBuild(build: KpackBuild): Promise<void> {
    const { namespace, name, uid = '' } = build.metadata
    if (done.has(uid)) return
    done.add(uid)
    const [tag = ''] = build.spec.tags
    const colon = tag.lastIndexOf(':')
    const latestImage = registry.publish(tag.slice(registry.host.length + 1, colon), commitOf(build), tag.slice(colon + 1))
    const status = { latestImage, conditions: [{ type: 'Succeeded', status: 'True' }] }
    // The platform may have cancelled it meanwhile.
    await admin.request(
      'PATCH',
      `/apis/${kpackBuilds.apiVersion}/namespaces/${namespace}/builds/${name}/status`,
      { status },
      json,
    )
  }

  async function seeBuild({ type, object }: Seen<KpackBuild>): Promise<void> {
    const commit = commitOf(object)
    if (!begun.has(commit)) begun.set(commit, performance.now())
    if (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined) {
      if (!done.has(object.metadata.uid ?? '')) gone.set(commit, performance.now())
      return
    }
    if (object.status?.conditions !== undefined) return
    if (held.has(commit)) held.set(commit, object)
    else await endBuild(object)
  }

  const started = new Set<string>()
  async function seePod({ object }: Seen<Pod>): Promise<void> {
    const { namespace, name, uid = '', deletionTimestamp } = object.metadata
    if (started.has(uid) || deletionTimestamp !== undefined || object.status?.phase === 'Running') return
    started.add(uid)
    await admin.request('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status: runningStatus(object) }, json)
  }

  await follower.follow(kpackBuilds, buildScope, seeBuild)
  await follower.follow(pods, {}, seePod)
  const certain = <T>(value: T): T => {
    follower.check()
    return value
  }
  return {
    hold: commit => void held.set(commit, undefined),
    async release(commit) {
      const build = held.get(commit)
      held.delete(commit)
      if (build !== undefined) await endBuild(build)
    },
    begunAt: commit => certain(begun.get(commit)),
    goneAt: commit => certain(gone.get(commit)),
    ended: () => certain(done.size),
    async close() {
      await follower.end()
      await client.close()
      await admin.close()
    },
  }
}
