// Opens what builds need: the source store, which is a process of its own, with its endpoint, and the settings for kpack. It
// holds no App key and no token.
import { randomBytes } from 'node:crypto'
import { builderServiceAccount } from '../../api/dockerfile-build.ts'
import { untilAnswered } from '../../kube/client/until-answered.ts'
import type { Periodic } from '../../lib/periodic.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Part } from '../part.ts'
import type { RegistrySettings } from '../registry/config.ts'
import type { BuildSettings } from './config.ts'
import type { KpackSettings } from './kpack/build-manifest.ts'
import { kpackInstalled } from './kpack/kpack-builder.ts'
import { createSourceEndpoint } from './source-endpoint.ts'
import { type ChildStore, createChildStore } from './source-store/child-store.ts'
import { fetchMilliseconds } from './source-store/open-store.ts'
import { createSourceStore, type SourceStore } from './source-store/source-store.ts'

export type Builds = Part & {
  readonly sources: SourceStore
  readonly kpack: { readonly installed: boolean; readonly settings: KpackSettings }
}

/** `dataFolder`: for fetched sources, where the source store is a child of this process. */
type Deps = ServiceDeps<BuildSettings & Pick<RegistrySettings, 'registry'> & { readonly dataFolder: string }>

/** Call before the manager starts: it asks the API server whether kpack is installed. */
export async function openBuilds(deps: Deps): Promise<Builds> {
  const { settings, kube, store, clock, log } = deps
  const { socket, child } = findSourceStore(deps)
  const sources = createSourceStore({
    socket,
    addressKey: await store.keys.getOrCreate('source-address', async () => new SecretString(randomBytes(32).toString('base64'))),
    publicUrl: settings.sourceUrl,
    timeoutMilliseconds: fetchMilliseconds,
    clock,
    log,
  })
  const endpoint = sourceEndpoint(deps)
  const kpackSettings = {
    registry: settings.registry,
    clusterBuilder: settings.clusterBuilder,
    builders: new Map(settings.builders),
    serviceAccount: builderServiceAccount,
    resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '1Gi' },
  }
  return {
    sources,
    kpack: { installed: await untilAnswered(() => kpackInstalled(kube), { clock, log }), settings: kpackSettings },
    async start() {
      await child?.start()
      endpoint?.start()
    },
    async stop() {
      await endpoint?.stop()
      await sources.close()
      await child?.stop()
    },
  }
}

/** Undefined where this process does not know the address of its pod: somebody else sees to the endpoints of the Service. */
function sourceEndpoint({ settings, manager, clock, log }: Deps): Periodic | undefined {
  const { podAddress: address, sourcePort: port } = settings
  const { client, isLeader } = manager
  return address === undefined ? undefined : createSourceEndpoint({ client, isLeader, address, port, clock, log })
}

/** The source store of the pod's own container, or a child of this process where there is none. */
function findSourceStore({ settings, clock, log }: Deps): { readonly socket: string; readonly child?: ChildStore } {
  if (settings.sourceSocket !== undefined) return { socket: settings.sourceSocket }
  const folder = `${settings.dataFolder}/sources`
  const socket = `${folder}/orders.sock`
  log.info({}, 'git runs as a child of this process, with its user: set SEKISHO_SOURCE_SOCKET where tenants are not trusted')
  const { sourcePort: port, sourceMegabytes: megabytes } = settings
  return { socket, child: createChildStore({ socket, folder, port, megabytes, clock, log }) }
}
