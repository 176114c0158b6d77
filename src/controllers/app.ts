// Composes the controllers' process: one controller per kind, the token desk, builds and charts. Controllers and caches are added to the
// manager here, so create the app before `manager.start()` and start it afterwards.
import { platformNamespace } from '../api/names.ts'
import { type ChartRenderer, createChartRenderer } from '../charts/renderer.ts'
import type { ControllerDefinition } from '../kube/controller/controller.ts'
import { createEventRecorder, type EventRecorder } from '../kube/object/events.ts'
import { openNetworkProbe } from '../network-probe/open.ts'
import type { ControllersDeps } from './app-deps.ts'
import { dnsLookUp } from './application/domains/dns-challenge.ts'
import { createDomainProofs } from './application/domains/domain-proofs.ts'
import { reservedHostsOf } from './application/domains/reserved-hosts.ts'
import { createApplicationController } from './application/index.ts'
import { createApplicationChartController } from './application-chart/index.ts'
import { createClusterGitHubAppController } from './cluster-github-app/index.ts'
import type { ControllersSettings } from './config.ts'
import { createDomainClaimController } from './domain-claim/index.ts'
import { createInstallationController } from './installation/index.ts'
import { createRemoteSyncController } from './remote-sync/index.ts'
import { createRepositoryGrantController } from './repository-grant/index.ts'
import { type Builds, openBuilds } from './services/open-builds.ts'
import { type OpenRegistry, openRegistry } from './services/open-registry.ts'
import { type OpenTokenDesk, openTokenDesk } from './services/open-token-desk.ts'
import { createTenantController, type NetworkSettings, registryPort, registryRange } from './tenant/index.ts'

export type ControllersApp = {
  /** Resolves when the token desk and the source store listen. */
  readonly start: () => Promise<void>
  /** May be called before `start`, and after a `start` that failed. */
  readonly stop: () => Promise<void>
}

/** Rejects when a key of the token desk or the source store cannot be opened. */
export async function createControllersApp(deps: ControllersDeps): Promise<ControllersApp> {
  const { settings, manager, kube: client, clock } = deps
  const log = deps.log.child({ process: 'controllers' })
  const services: Services = {
    tokenDesk: await openTokenDesk({ ...deps, log }),
    builds: await openBuilds({ ...deps, log }),
    registry: await openRegistry({ ...deps, log }),
    renderer: createChartRenderer(),
    events: createEventRecorder({ client, clock, log, component: 'sekisho-controllers' }),
  }
  const { tokenDesk, builds, registry, renderer, events } = services
  const networkProbe = openNetworkProbe({ manager, host: settings.probeHost, metrics: deps.metrics, clock, log })
  for (const controller of createControllers({ ...deps, log }, services)) manager.add(controller)

  return {
    async start() {
      await builds.start()
      await registry.start()
      renderer.warmUp()
      await tokenDesk.start()
      networkProbe.start()
      log.info({ tokenDesk: settings.tokenDeskPort, sources: settings.sourcePort }, 'token desk and source store listening')
    },
    async stop() {
      await Promise.all([tokenDesk.stop(), builds.stop(), registry.stop(), renderer.stop(), networkProbe.stop()])
      await events.flush()
    },
  }
}

type Services = {
  readonly tokenDesk: OpenTokenDesk
  readonly builds: Builds
  readonly registry: OpenRegistry
  readonly renderer: ChartRenderer
  readonly events: EventRecorder
}

/** One controller per kind. */
function createControllers(deps: ControllersDeps, services: Services): readonly ControllerDefinition[] {
  const { settings, store, manager, clock, log } = deps
  const { renderer, events, builds, registry } = services
  const { desk, githubApps, certificateAuthority } = services.tokenDesk
  const shared = { client: manager.client, manager, events, clock, log, platformNamespace }
  const onGitHub = { ...shared, githubApps, desk, audit: store.audit, tokens: store.tokens }
  const tenantSettings = { network: networkOf(settings, registry.tokenPort), certificateAuthority }
  const ingress = { publicUrl: settings.applicationUrl, className: settings.ingressClass }
  const proofs = createDomainProofs({ lookUp: dnsLookUp(settings.dnsServers), clock })
  const domains = { reservedHosts: reservedHostsOf(settings), proofs }
  return [
    createTenantController({ ...onGitHub, settings: tenantSettings, registry: registry.tenants }),
    createClusterGitHubAppController({ ...shared, githubApps }),
    createInstallationController(onGitHub),
    createRepositoryGrantController(onGitHub),
    createApplicationChartController({ ...shared, renderer }),
    createApplicationController({ ...shared, ...domains, renderer, ingress, registry }),
    createDomainClaimController(shared),
    createRemoteSyncController({
      ...shared,
      tokens: desk,
      endpointsOf: async name => (await githubApps.get(name)).endpoints,
      sources: builds.sources,
      kpack: builds.kpack,
      labelsOf: registry.labelsOf,
      platformBuilds: settings.platformBuilds,
      sweepMilliseconds: settings.sweepSeconds * 1000,
    }),
  ]
}

/** Builds reach the internet by http(s) and at the registry's port; a registry that is named by address may be at a private one. */
function networkOf(settings: ControllersSettings, registryTokenPort: number | undefined): NetworkSettings {
  const { ingressFrom, clusterRanges, privateRanges, dnsRanges, applicationEgress, buildEgress, tokenDeskPort } = settings
  const own = registryRange(settings.registry)
  const port = registryPort(settings.registry)
  return {
    ...{ ingressFrom, clusterRanges, privateRanges, dnsRanges, applicationEgress, tokenDeskPort },
    sourceStorePort: settings.sourcePort,
    ...(registryTokenPort === undefined ? {} : { registryTokenPort }),
    buildEgress: own === undefined ? buildEgress : [own, ...buildEgress],
    buildPorts: [...new Set([80, 443, ...(port === undefined ? [] : [port])])],
  }
}
