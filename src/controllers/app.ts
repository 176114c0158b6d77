// Composes the controllers' process: one controller per kind, the token desk, builds and charts. Controllers and caches are added to the
// manager here, so create the app before `manager.start()` and start it afterwards.
import { platformNamespace } from '../api/names.ts'
import { type ChartRenderer, createChartRenderer } from '../charts/renderer.ts'
import type { ControllerDefinition } from '../kube/controller/controller.ts'
import { createEventRecorder, type EventRecorder } from '../kube/object/events.ts'
import type { ControllersDeps } from './app-deps.ts'
import { dnsLookUp } from './application/domains/dns-challenge.ts'
import { createDomainProofs } from './application/domains/domain-proofs.ts'
import { createApplicationController } from './application/index.ts'
import { createApplicationChartController } from './application-chart/index.ts'
import { createClusterGitHubAppController } from './cluster-github-app/index.ts'
import { createDomainClaimController } from './domain-claim/index.ts'
import { createInstallationController } from './installation/index.ts'
import { type Builds, openBuilds } from './open-builds.ts'
import { type OpenTokenDesk, openTokenDesk } from './open-token-desk.ts'
import { createRemoteSyncController } from './remote-sync/index.ts'
import { createRepositoryGrantController } from './repository-grant/index.ts'
import { reservedHostsOf } from './reserved-hosts.ts'
import { createTenantController, type EgressRule } from './tenant/index.ts'

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
    renderer: createChartRenderer(),
    events: createEventRecorder({ client, clock, log, component: 'sekisho-controllers' }),
  }
  const { tokenDesk, builds, renderer, events } = services
  for (const controller of createControllers({ ...deps, log }, services)) manager.add(controller)

  return {
    async start() {
      await builds.start()
      renderer.warmUp()
      await tokenDesk.start()
      log.info({ tokenDesk: settings.tokenDeskPort, sources: settings.sourcePort }, 'token desk and source store listening')
    },
    async stop() {
      await Promise.all([tokenDesk.stop(), builds.stop(), renderer.stop()])
      await events.flush()
    },
  }
}

type Services = {
  readonly tokenDesk: OpenTokenDesk
  readonly builds: Builds
  readonly renderer: ChartRenderer
  readonly events: EventRecorder
}

/** One controller per kind. */
function createControllers(deps: ControllersDeps, services: Services): readonly ControllerDefinition[] {
  const { settings, store, manager, clock, log } = deps
  const { renderer, events, builds } = services
  const { desk, githubApps, certificateAuthority } = services.tokenDesk
  const shared = { client: manager.client, manager, events, clock, log, platformNamespace }
  const onGitHub = { ...shared, githubApps, desk, audit: store.audit, tokens: store.tokens }
  const buildEgress = buildEgressOf(settings.registry)
  const tenantSettings = { sourceStorePort: settings.sourcePort, buildEgress, certificateAuthority }
  const ingress = { publicUrl: settings.applicationUrl, className: settings.ingressClass }
  const proofs = createDomainProofs({ lookUp: dnsLookUp(settings.dnsServers), clock })
  const domains = { reservedHosts: reservedHostsOf(settings), proofs }
  return [
    createTenantController({ ...onGitHub, settings: tenantSettings }),
    createClusterGitHubAppController({ ...shared, githubApps }),
    createInstallationController(onGitHub),
    createRepositoryGrantController(onGitHub),
    createApplicationChartController({ ...shared, renderer }),
    createApplicationController({ ...shared, ...domains, renderer, ingress }),
    createDomainClaimController(shared),
    createRemoteSyncController({
      ...shared,
      tokens: desk,
      endpointsOf: async name => (await githubApps.get(name)).endpoints,
      sources: builds.sources,
      kpack: builds.kpack,
      platformBuilds: settings.platformBuilds,
      sweepMilliseconds: settings.sweepSeconds * 1000,
    }),
  ]
}

/** Builds may reach the image registry and package registries at any address, except the metadata address of clouds. */
function buildEgressOf(registry: string): readonly EgressRule[] {
  const port = /^[^/]+:([0-9]{1,5})(\/|$)/.exec(registry)?.[1]
  const ports = [...new Set([80, 443, ...(port === undefined ? [] : [Number(port)])])]
  return [{ name: 'registries', cidr: '0.0.0.0/0', except: ['169.254.0.0/16'], ports }]
}
