// Puts the controllers together: one controller a kind, the token desk, the source store. Holds App keys and installation tokens, never a
// user's token. Controllers and caches are added to the manager here, so call this before `manager.start()`; `start()` after it.
import { randomBytes } from 'node:crypto'
import { secrets } from '../api/builtin/index.ts'
import { clusterGitHubApp } from '../api/github/cluster-github-app.ts'
import { platformNamespace } from '../api/names.ts'
import { tenant } from '../api/tenancy/tenant.ts'
import { createSourceServer } from '../builds/source-store/server.ts'
import { createSourceStore } from '../builds/source-store/source-store.ts'
import { endpointsOf } from '../github/index.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import { createEventRecorder } from '../kube/object/events.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { SecretString } from '../lib/secret-string.ts'
import { createRedeliveryPoll } from '../redelivery/poll.ts'
import type { Store } from '../store/store.ts'
import { createGitHubApps } from '../token-desk/app-clients.ts'
import { createTokenDesk, sweepUntil, tokenRoutes } from '../token-desk/index.ts'
import { openTokenDeskCertificate } from '../token-desk/server/certificate.ts'
import { createWebServer, listen } from '../web/server.ts'
import { createApplicationController, createChartRenderer } from './application/index.ts'
import { createApplicationChartController } from './application-chart/index.ts'
import { createClusterGitHubAppController } from './cluster-github-app/index.ts'
import type { ControllersSettings } from './config.ts'
import { createInstallationController } from './installation/index.ts'
import { createRemoteSyncController, kpackInstalled } from './remote-sync/index.ts'
import { createRepositoryGrantController } from './repository-grant/index.ts'
import { builderServiceAccount, createTenantController, type EgressRule } from './tenant/index.ts'

export type ControllersDeps = {
  readonly settings: ControllersSettings
  readonly store: Store
  readonly kube: KubeClient
  readonly manager: Manager
  readonly log: Log
  readonly clock: Clock
}

export type ControllersApp = {
  /** Resolves when the token desk and the source store serve. */
  readonly start: () => Promise<void>
  /** Also before `start` and after one that failed. */
  readonly stop: () => Promise<void>
}

const megabyte = 1_048_576

export async function createControllersApp(deps: ControllersDeps): Promise<ControllersApp> {
  const { settings, store, kube, manager, clock } = deps
  const log = deps.log.child({ process: 'controllers' })
  const { client } = manager
  const events = createEventRecorder({ client: kube, clock, log, component: 'sekisho-controllers' })
  const shared = { client, manager, events, clock, log, platformNamespace }

  const apps = manager.cache(clusterGitHubApp)
  const tenants = manager.cache(tenant)
  const githubApps = createGitHubApps({ apps, secrets: manager.cache(secrets, { namespace: platformNamespace }), log, clock })
  const tenantOf = (namespace: string) => tenants.list().find(({ spec }) => spec.namespace === namespace)
  const appOf = (host: string, appId?: number) =>
    apps.list().find(({ spec }) => spec.host === host && (appId === undefined || spec.appId === appId))

  const deskDeps = {
    client: kube,
    githubApps,
    tokens: store.tokens,
    audit: store.audit,
    appNameOf: (host: string, appId: number) => appOf(host, appId)?.metadata.name,
    tenantOf,
    clock,
    log,
  }
  const desk = createTokenDesk(deskDeps)
  const certificate = await openTokenDeskCertificate({
    keys: store.keys,
    host: settings.tokenDeskHost,
    clock,
    onError: error => log.error({ problem: messageOf(error) }, 'the certificate of the token desk could not be renewed'),
  })
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
  const renderer = createChartRenderer()

  const ingress = { publicUrl: settings.applicationUrl, className: settings.ingressClass }
  const kpackSettings = {
    registry: settings.registry,
    clusterBuilder: settings.clusterBuilder,
    serviceAccount: builderServiceAccount,
    resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '1Gi' },
  }
  for (const controller of [
    createTenantController({
      ...shared,
      githubApps,
      desk,
      audit: store.audit,
      tokens: store.tokens,
      settings: {
        sourceStorePort: settings.sourcePort,
        buildEgress: buildEgress(settings.registry),
        certificateAuthority: certificate.authority,
      },
    }),
    createClusterGitHubAppController({ ...shared, githubApps }),
    createInstallationController({ ...shared, githubApps, desk, audit: store.audit, tokens: store.tokens }),
    createRepositoryGrantController({ ...shared, githubApps, desk, audit: store.audit, tokens: store.tokens }),
    createApplicationChartController({ ...shared, renderer }),
    createApplicationController({ ...shared, renderer, ingress }),
    createRemoteSyncController({
      ...shared,
      tokens: desk,
      endpointsOf: async name => (await githubApps.get(name)).endpoints,
      sources,
      kpack: { installed: await kpackInstalled(kube), settings: kpackSettings },
      platformBuilds: settings.platformBuilds,
      sweepMilliseconds: settings.sweepSeconds * 1000,
    }),
  ])
    manager.add(controller)

  const deskServer = await createWebServer({ log, certificate, requestsPerMinute: 6000 })
  await deskServer.register(
    tokenRoutes({
      desk,
      client: kube,
      endpointsOfHost: host => {
        const app = appOf(host)
        return app && endpointsOf(app.spec)
      },
    }),
  )
  const sourceServer = createSourceServer({ store: sources, clock, log })
  const sweeping = new AbortController()
  let swept: Promise<void> | undefined
  const redelivery = createRedeliveryPoll({ apps, githubApps, isLeader: manager.isLeader, clock, log })
  let redelivered: Promise<void> | undefined

  return {
    async start() {
      await sources.open()
      renderer.warmUp()
      await listen(deskServer, { host: '0.0.0.0', port: settings.tokenDeskPort })
      await sourceServer.listen('0.0.0.0', settings.sourcePort)
      swept = sweepUntil({ ...deskDeps, isLeader: manager.isLeader }, sweeping.signal)
      redelivered = redelivery.until(sweeping.signal, settings.redeliverySeconds * 1000)
      log.info({ tokenDesk: settings.tokenDeskPort, sources: settings.sourcePort }, 'controllers serve')
    },
    async stop() {
      sweeping.abort()
      certificate.stop()
      await Promise.all([deskServer.close(), sourceServer.close(), renderer.stop(), swept, redelivered])
      await events.flush()
    },
  }
}

/** Builds reach the image registry and package registries, wherever they are, but not a cloud's metadata address. */
function buildEgress(registry: string): readonly EgressRule[] {
  const port = /^[^/]+:([0-9]{1,5})(\/|$)/.exec(registry)?.[1]
  const ports = [...new Set([80, 443, ...(port === undefined ? [] : [Number(port)])])]
  return [{ name: 'registries', cidr: '0.0.0.0/0', except: ['169.254.0.0/16'], ports }]
}
