// Composes the controllers' process: one controller per kind, the token desk, builds and charts. Controllers and caches are
// added to the manager here, so create the app before `manager.start()` and start it afterwards.
import { Registry } from 'prom-client'
import { builderServiceAccount } from '../api/dockerfile-build.ts'
import { grantApproval } from '../api/github/grant-approval.ts'
import { repositoryGrant } from '../api/github/repository-grant.ts'
import { platformNamespace, platformServiceAccount } from '../api/names.ts'
import { tenant } from '../api/tenancy/tenant.ts'
import { createGitHubMeter, type GitHubMeter } from '../github/index.ts'
import type { ControllerDefinition } from '../kube/controller/controller.ts'
import { createEventRecorder, type EventRecorder } from '../kube/object/events.ts'
import { defined } from '../lib/json/defined.ts'
import { openAccessRecords } from '../services/access-records/open.ts'
import { openAppSecrets } from '../services/app-secret-keys/open.ts'
import { openBuildLogs } from '../services/builds/logs/open.ts'
import { openBuilds } from '../services/builds/open.ts'
import { createChartRenderer } from '../services/charts/renderer.ts'
import { openFollowedTags } from '../services/followed-tags/open.ts'
import { openGitProxy } from '../services/git-proxy/open.ts'
import { openUnusedImages } from '../services/image-cleanup/open.ts'
import { openNetworkProbe } from '../services/network-probe/open.ts'
import { openNodeCheck } from '../services/node-check/open.ts'
import { partOf } from '../services/part.ts'
import { createPlatformSecrets } from '../services/platform-secrets.ts'
import { type OpenRegistry, openRegistry } from '../services/registry/open.ts'
import { openTokenDesk } from '../services/token-desk/open.ts'
import { openWallProbe } from '../services/wall-probe/open.ts'
import { openAuthorizerCertificate } from '../services/webhook-certificate/authorizer.ts'
import { openWebhookCertificate } from '../services/webhook-certificate/open.ts'
import { openResealing } from '../store/resealing/open.ts'
import type { ControllersDeps } from './app-deps.ts'
import { createAppPipelineController } from './app-pipeline/index.ts'
import { createAppSecretController } from './app-secret/index.ts'
import { dnsLookUp } from './application/domains/dns-challenge.ts'
import { createDomainProofs } from './application/domains/domain-proofs.ts'
import { reservedHostsOf } from './application/domains/reserved-hosts.ts'
import { createApplicationController } from './application/index.ts'
import { createApplicationChartController } from './application-chart/index.ts'
import { createClusterGitHubAppController } from './cluster-github-app/index.ts'
import type { ControllersSettings } from './config.ts'
import { createDomainClaimController } from './domain-claim/index.ts'
import { createGitHubReportController } from './github-report/index.ts'
import { createGrantApprovalController } from './grant-approval/index.ts'
import { createClusterGrantPolicyController, createGrantPolicyController } from './grant-policy/index.ts'
import { createHaltController } from './halt/index.ts'
import { createInstallationController } from './installation/index.ts'
import { tenantsByNamespace } from './kit/tenants-by-namespace.ts'
import { createBreakGlassCounter, createBuildMetrics, createObjectMetrics } from './metrics.ts'
import { createPreviewApprovalController } from './preview-approval/index.ts'
import { createRemoteSyncController } from './remote-sync/index.ts'
import { createRepositoryGrantController } from './repository-grant/index.ts'
import { createServiceProxyController } from './service-proxy/index.ts'
import { createServiceProxyMetrics } from './service-proxy/metrics.ts'
import { createServiceRecordControllers } from './service-records/index.ts'
import { createTenantController, type NetworkSettings, registryPort, registryRange } from './tenant/index.ts'

export type ControllersApp = {
  /** Resolves when the token desk, the git proxy and the source store listen. */
  readonly start: () => Promise<void>
  /** May be called before `start`, and after a `start` that failed. */
  readonly stop: () => Promise<void>
  /** The public key to which values of AppSecrets are sealed, for an admission webhook in the same process. */
  readonly appSecretsKey: () => string
}

/** Rejects when a key of the token desk or the source store cannot be opened. */
export async function createControllersApp(given: ControllersDeps): Promise<ControllersApp> {
  const deps = { ...given, log: given.log.child({ process: 'controllers' }) }
  const { settings, manager, kube: client, clock, log } = deps
  const metrics = given.metrics ?? new Registry()
  const meter = createGitHubMeter(metrics, clock)
  const events = createEventRecorder({ client, clock, log, component: 'sekisho-controllers' })
  const services = await openServices({ ...deps, events, meter })
  createObjectMetrics(metrics, {
    tenants: manager.cache(tenant),
    grants: manager.cache(repositoryGrant),
    approvals: manager.cache(grantApproval),
  })
  for (const controller of createControllers({ ...deps, metrics, events, meter }, services)) manager.add(controller)
  const part = partOf(...Object.values(services))
  return {
    async start() {
      await part.start()
      log.info(
        { tokenDesk: settings.tokenDeskPort, gitProxy: settings.gitProxyPort, sources: settings.sourcePort },
        'token desk, git proxy and source store listening',
      )
    },
    async stop() {
      await part.stop()
      await events.flush()
    },
    appSecretsKey: services.appSecrets.publicKey,
  }
}

type Services = Awaited<ReturnType<typeof openServices>>

/** What all parts of the process share. */
type Shared = ControllersDeps & { readonly events: EventRecorder; readonly meter: GitHubMeter }

/** In the order in which they start. Call before the manager starts: they add caches. */
async function openServices(deps: Shared) {
  const { settings, manager, kube: client, metrics, events, meter, clock, log } = deps
  const secretOf = createPlatformSecrets({ client, clock })
  const tenantsIn = tenantsByNamespace(manager.cache(tenant))
  const builds = await openBuilds(deps)
  const registry = await openRegistry({ ...deps, tenantsIn }, secretOf)
  const renderer = createChartRenderer()
  const tokenDesk = await openTokenDesk(deps, { secretOf, tenantsIn, events, meter })
  return {
    builds,
    registry,
    renderer: { ...renderer, start: renderer.warmUp },
    tokenDesk,
    gitProxy: await openGitProxy(deps, { ...tokenDesk, meter }),
    accessRecords: openAccessRecords(deps),
    networkProbe: openNetworkProbe({ manager, host: settings.probeHost, metrics, clock, log }),
    wallProbe: openWallProbe({ ...deps, metrics }),
    nodeCheck: openNodeCheck({ manager, node: settings.nodeName, metrics, clock, log }),
    buildLogs: openBuildLogs(deps),
    unusedImages: openUnusedImages(deps, registry, builds.kpack.installed),
    appSecrets: await openAppSecrets({ ...deps, generation: settings.appSecretsKeyGeneration }),
    tags: openFollowedTags({ settings, clock }),
    resealing: openResealing({ ...deps, process: 'controllers', isLeader: manager.isLeader, metrics }),
    webhookCertificate: openWebhookCertificate(deps),
    authorizerCertificate: openAuthorizerCertificate(deps),
  }
}

/** One controller per kind. */
function createControllers(deps: Shared & { readonly metrics: Registry }, services: Services): readonly ControllerDefinition[] {
  const { settings, store, manager, clock, log, metrics, events, meter } = deps
  const { certificateIssuers, redirectAnnotations } = settings
  const { renderer, builds, buildLogs, unusedImages, appSecrets, registry, tags } = services
  const { desk, githubApps, certificateAuthorities } = services.tokenDesk
  const shared = { client: manager.client, manager, events, clock, log, platformNamespace }
  const onGitHub = { ...shared, githubApps, desk, audit: store.audit, tokens: store.tokens }
  const endpointsOf = async (name: string) => (await githubApps.get(name)).endpoints
  /** For kinds that follow a repository. */
  const following = {
    meter,
    tokens: desk,
    endpointsOf,
    sweepMilliseconds: settings.sweepSeconds * 1000,
  }
  const accounts = {
    broker: platformServiceAccount(deps.mode, 'broker'),
    controllers: platformServiceAccount(deps.mode, 'controllers'),
    dataServices: platformServiceAccount(deps.mode, 'data-services'),
  }
  const tenantSettings = {
    network: networkOf(settings, registry.tokenPort),
    certificateAuthorities,
    accounts,
    addresses: settings,
    runtimeClasses: settings,
    buildsDockerfiles: settings.buildkitImage !== undefined,
  }
  const ingress = { publicUrl: settings.applicationUrl, className: settings.ingressClass, tlsPort: settings.applicationTlsPort }
  const proofs = createDomainProofs({ lookUp: dnsLookUp(settings.dnsServers), clock })
  const domains = { reservedHosts: reservedHostsOf(settings), redirectAnnotations, proofs }
  return [
    // First: what somebody halted is the first thing that goes on.
    createHaltController(onGitHub),
    createTenantController({ ...onGitHub, settings: tenantSettings, registry: registry.tenants }),
    createServiceProxyController({ ...shared, countedBy: count => createServiceProxyMetrics(metrics, count) }),
    createClusterGitHubAppController({ ...shared, githubApps }),
    createInstallationController(onGitHub),
    createRepositoryGrantController({ ...onGitHub, countBreakGlass: createBreakGlassCounter(metrics) }),
    createGrantApprovalController(shared),
    createGrantPolicyController(shared),
    createClusterGrantPolicyController(shared),
    createApplicationChartController({ ...shared, renderer }),
    createAppSecretController({ ...shared, keys: appSecrets.keys }),
    createApplicationController({ ...shared, ...domains, ...{ renderer, ingress, registry, certificateIssuers, tags } }),
    createDomainClaimController(shared),
    ...createServiceRecordControllers(onGitHub),
    createAppPipelineController({ ...shared, ...following, ingress }),
    createPreviewApprovalController({ ...shared, ...following, audit: store.audit }),
    createRemoteSyncController({
      ...shared,
      ...following,
      sources: builds.sources,
      kpack: builds.kpack,
      logs: {
        collectFrom(builder) {
          buildLogs.collectFrom(builder)
          unusedImages.recordFrom(builder)
        },
      },
      buildkit: buildkitOf(settings, registry),
      buildpacks: buildpacksOf(settings, registry),
      labelsOf: registry.labelsOf,
      freshLabelsOf: registry.freshLabelsOf,
      tagImage: settings.rebases === 'enabled' ? registry.tag : undefined,
      recordPushes: unusedImages.recordNow,
      imageClaims: unusedImages.claims,
      platformBuilds: settings.platformBuilds,
      countedBy: count => createBuildMetrics(metrics, count),
      prepareRollout: renderer.warmUp,
      offer: {
        builders: settings.builders.map(([name]) => name),
        most: { cpu: settings.maxBuildCpu, memory: settings.maxBuildMemory, ephemeralStorage: settings.maxBuildStorage },
      },
    }),
    createGitHubReportController({
      ...shared,
      tokens: desk,
      endpointsOf,
      appIdOf: async name => (await githubApps.get(name)).appId,
      publicUrl: settings.publicUrl,
    }),
  ]
}

/** Undefined when no image for Dockerfile builds is configured. */
function buildkitOf({ registry, buildkitImage: image }: ControllersSettings, { buildSecret, plainHttp }: OpenRegistry) {
  if (image === undefined) return undefined
  return { settings: { registry, image, serviceAccount: builderServiceAccount, credential: buildSecret }, plainHttp }
}

/** Undefined when kpack runs the phases of builds with buildpacks. */
function buildpacksOf({ buildpacksImage: image }: ControllersSettings, { buildSecret: credential }: OpenRegistry) {
  return image === undefined ? undefined : { image, credential }
}

/**
 * Builds reach the internet by http(s) and at the registry's port; a registry that is named by address may be at a private one.
 */
function networkOf(settings: ControllersSettings, registryTokenPort: number | undefined): NetworkSettings {
  const { ingressFrom, clusterRanges, privateRanges, dnsRanges, applicationEgress, buildEgress } = settings
  const { tokenDeskPort, gitProxyPort } = settings
  const own = registryRange(settings.registry)
  const port = registryPort(settings.registry)
  return {
    ...{ ingressFrom, clusterRanges, privateRanges, dnsRanges, applicationEgress, tokenDeskPort, gitProxyPort },
    sourceStorePort: settings.sourcePort,
    ...defined({ registryTokenPort }),
    buildEgress: own === undefined ? buildEgress : [own, ...buildEgress],
    buildPorts: [...new Set([80, 443, ...(port === undefined ? [] : [port])])],
  }
}
