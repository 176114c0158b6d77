// Opens what builds need: the source store with its server, and the settings for kpack. It holds no App key and no token.
import { randomBytes } from 'node:crypto'
import { builderServiceAccount } from '../../builds/builder.ts'
import type { KpackSettings } from '../../builds/kpack/build-manifest.ts'
import { kpackInstalled } from '../../builds/kpack/kpack-builder.ts'
import { createSourceServer } from '../../builds/source-store/server.ts'
import { createSourceStore, type SourceStore } from '../../builds/source-store/source-store.ts'
import { SecretString } from '../../lib/secret-string.ts'
import type { ControllersDeps } from '../app-deps.ts'

export type Builds = {
  readonly sources: SourceStore
  readonly kpack: { readonly installed: boolean; readonly settings: KpackSettings }
  /** Resolves when the source store listens. */
  readonly start: () => Promise<void>
  /** May be called before `start`. */
  readonly stop: () => Promise<void>
}

const megabyte = 1_048_576

/** Call before the manager starts: it asks the API server whether kpack is installed. */
export async function openBuilds({ settings, kube, store, clock, log }: ControllersDeps): Promise<Builds> {
  const sources = createSourceStore({
    dataFolder: `${settings.dataFolder}/sources`,
    addressKey: await store.keys.getOrCreate('source-address', async () => new SecretString(randomBytes(32).toString('base64'))),
    publicUrl: settings.sourceUrl,
    limits: {
      timeoutMilliseconds: 120_000,
      packedBytes: settings.sourceMegabytes * megabyte,
      unpackedBytes: settings.sourceMegabytes * megabyte * 4,
      totalBytes: settings.sourceMegabytes * megabyte * 20,
    },
    clock,
    log,
  })
  const server = createSourceServer({ store: sources, clock, log })
  const kpackSettings = {
    registry: settings.registry,
    clusterBuilder: settings.clusterBuilder,
    serviceAccount: builderServiceAccount,
    resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '1Gi' },
  }
  return {
    sources,
    kpack: { installed: await kpackInstalled(kube), settings: kpackSettings },
    async start() {
      await sources.open()
      await server.listen('0.0.0.0', settings.sourcePort)
    },
    stop: server.close,
  }
}
