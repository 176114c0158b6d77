// Composes the broker. It adds controllers and caches to the manager: call `createBrokerApp` before `manager.start()`, and
// `start()` after it. Knows people, pages, webhooks and the issuer; never an App key, never an installation token.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { Registry } from 'prom-client'
import { appPipeline } from '../api/apps/app-pipeline.ts'
import { remoteSync } from '../api/apps/remote-sync.ts'
import { clusterGitHubApp } from '../api/github/cluster-github-app.ts'
import { halt } from '../api/github/halt.ts'
import { installation } from '../api/github/installation.ts'
import { repositoryGrant } from '../api/github/repository-grant.ts'
import type { Mode } from '../api/names.ts'
import { tenant } from '../api/tenancy/tenant.ts'
import { endpointsOfApp } from '../github/index.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import { derivedFrom } from '../lib/derived.ts'
import type { Log } from '../lib/log.ts'
import { openResealing } from '../store/resealing/open.ts'
import { createSharedKeyCheck } from '../store/resealing/shared-key.ts'
import type { BrokerStore } from '../store/store.ts'
import type { ProvenClient } from '../web/clients/client-key.ts'
import { createHttpMetrics } from '../web/metrics.ts'
import { type SecurityHeaderOptions, securityHeaders } from '../web/security-headers.ts'
import { createWebServer, listen, type WebServer } from '../web/server.ts'
import type { Certificate } from '../web/tls.ts'
import { openCheckpoints } from './audit/open-checkpoints.ts'
import { createAuditReaders } from './auditors/audit-readers.ts'
import { createServiceAccounts } from './auditors/service-accounts.ts'
import { createVisibleBuilds } from './builds/visible-builds.ts'
import type { BrokerSettings } from './config.ts'
import type { BrokerContext } from './context.ts'
import { createBrokerGitHub } from './github.ts'
import { createVisibleGrants } from './grants/visible-grants.ts'
import { createBrokerIssuer } from './issuer.ts'
import { createKnownBrowsers } from './known-browsers.ts'
import { createBrokerMetrics } from './metrics.ts'
import { mayOnboard } from './onboarding/approval/accounts.ts'
import { createOnboardingController } from './onboarding/onboarding-controller.ts'
import { createOnboardingRecords } from './onboarding/onboarding-records.ts'
import type { OnboardingDeps } from './onboarding/prove-binding.ts'
import { errorPage } from './pages/layout.ts'
import { type AccessReviews, createAccessReviews } from './people/access-reviews.ts'
import { createBrokerHaltController } from './people/halt-controller.ts'
import { createHaltedPeople, type HaltedPeople } from './people/halted-people.ts'
import { createPeople, type People } from './people/people.ts'
import { createPlatformAdmins } from './people/platform-admins.ts'
import { createVisiblePreviews } from './previews/visible-previews.ts'
import { createProvenClient } from './proven-client.ts'
import { registerRoutes } from './routes/index.ts'
import { createPersonSessions } from './sessions.ts'
import { createSweeper } from './sweeper.ts'
import { createApplicationReader } from './tenants/applications.ts'
import { createServiceReader } from './tenants/services.ts'
import { createVisibleTenants } from './tenants/visible-tenants.ts'
import { createWaitingCount } from './waiting-count.ts'
import { createCandidateReader } from './webhooks/candidate-reader.ts'
import { handleDelivery } from './webhooks/handle-delivery.ts'
import { createInboxWorker } from './webhooks/inbox-worker.ts'

export type BrokerDeps = {
  /** The form of the platform: in the standalone one the controllers have the same keyring. */
  readonly mode: Mode
  readonly settings: BrokerSettings
  readonly store: BrokerStore
  readonly kube: KubeClient
  readonly manager: Pick<Manager, 'cache' | 'add' | 'client' | 'isLeader'>
  /** Absent only where a proxy on the same host terminates TLS. */
  readonly certificate?: Certificate
  /** Where the broker's metrics are registered; without it they are counted and not served. */
  readonly metrics?: Registry
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
}

export type BrokerApp = {
  /** Resolves to the port when requests are served. */
  readonly start: () => Promise<number>
  /** Stops serving, then resolves when the work in progress is done. */
  readonly stop: () => Promise<void>
}

/**
 * Adds its caches and controllers to the manager, so call it before the manager starts. Rejects when a signing key cannot be
 * opened.
 */
export async function createBrokerApp(options: BrokerDeps): Promise<BrokerApp> {
  const deps: BrokerDeps = { ...options, log: options.log.child({ process: 'broker' }) }
  const { settings, log } = deps
  const headers = createHeaders(deps)
  const { context, loops } = await createParts(deps, headers)
  const server = await createServer(deps, headers, createProvenClient(context))
  await registerRoutes(server, context)
  return {
    async start() {
      // First, because it may fail: then there is nothing to stop.
      const port = await listen(server, { host: settings.address, port: settings.port })
      for (const loop of loops) loop.start()
      log.info({ port, publicUrl: settings.publicUrl.origin }, 'broker listening')
      return port
    },
    async stop() {
      await server.close()
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

async function createParts(deps: BrokerDeps, headers: () => SecurityHeaderOptions) {
  const { mode, settings, store, kube, manager, clock, random, log } = deps
  const { isLeader } = manager
  const tenants = manager.cache(tenant)
  const apps = manager.cache(clusterGitHubApp)

  const registry = deps.metrics ?? new Registry()
  const metrics = createBrokerMetrics(registry)
  const { githubApp: appName, clientSecret } = settings
  const github = createBrokerGitHub({ appName, clientSecret, apps, observe: metrics.askedGitHub, log, clock })
  const reviews = createAccessReviews({ kube, clock })
  const platformAdmins = createPlatformAdmins(reviews)
  const auditReaders = createAuditReaders({ reviews, kube, tenants, clock })
  const halted = createHaltedPeople(manager.cache(halt), tenants)
  const { isHalted, ofOnboarding: haltOf } = halted
  const people = createPeople({ users: store.users, github, tenants, platformAdmins, auditReaders, halted, clock, log })
  const sessions = createPersonSessions({ sessions: store.sessions, clock, lifeHours: settings.sessionHours, isHalted })

  const onboardings = createOnboardingRecords(store.onboardings, log)
  const mayBeOnboarded: OnboardingDeps['mayOnboard'] = account => mayOnboard(account, settings.accounts, tenants.list())
  const onboarding = { github, people, onboardings, audit: store.audit, haltOf, mayOnboard: mayBeOnboarded, clock, log }
  const onboardingController = createOnboardingController({ ...onboarding, kube: manager.client, isLeader, random })
  manager.add(onboardingController.definition)
  manager.add(createBrokerHaltController({ manager, store, onboardings }))

  const deliveryDeps = { kube, store, candidates: createCandidateReader(manager), onboarding, log }
  const inbox = createInboxWorker({
    ...{ inbox: store.inbox, handle: item => handleDelivery(deliveryDeps, item), count: metrics.handledDelivery },
    ...{ clock, random, log },
  })

  const { publicUrl } = settings
  const issuer = await createBrokerIssuer({
    publicUrl,
    store,
    people,
    headers: derivedFrom(headers, securityHeaders),
    clock,
    log,
  })
  const sweeper = createSweeper({ store, onboardingController, isLeader, clock, log })
  const losses = { kube, audit: store.audit, keys: issuer.issuerKeys, issuer: publicUrl.origin, clock, log }
  const checkpoints = await openCheckpoints({ ...losses, settings, isLeader, metrics: registry })

  const resealing = openResealing({ process: 'broker', store, isLeader, metrics: registry, clock, log })
  const waitingCount = createWaitingCount({ store, metrics, clock, log })
  const sharedKey = createSharedKeyCheck({ keys: store.resealing.keys, audit: store.audit, isLeader, clock, log })

  const builds = createVisibleBuilds({ kept: store.keptLogs, reviews, remoteSyncs: manager.cache(remoteSync) })
  const context: BrokerContext = {
    ...{ mode, settings, store, github, people, platformAdmins, sessions, auditReaders },
    serviceAccounts: createServiceAccounts({ kube, clock }),
    knownBrowsers: createKnownBrowsers(issuer.issuerKeys.cookieKey),
    tenants,
    installations: manager.cache(installation),
    haltOfTenant: halted.ofTenant,
    builds,
    visibleTenants: createVisibleTenants({
      ...{ reviews, tenants, builds, applications: createApplicationReader(kube) },
      ...{ services: createServiceReader(kube), haltOf: halted.ofTenant },
      installations: manager.cache(installation),
      remoteSyncs: manager.cache(remoteSync),
      pipelines: manager.cache(appPipeline),
      grants: manager.cache(repositoryGrant),
    }),
    approvals: approvalsOf(deps, { reviews, people }),
    grantAnswers: grantAnswersOf(deps, { reviews, people }),
    owners: {
      ...{ people, kube, audit: store.audit, onboardings, clock, log },
      grants: manager.cache(repositoryGrant),
      haltOf: object => halted.ofTenant(object, 'platform'),
    },
    bindApps: { ...onboarding, kube },
    standIns: { ...onboarding, kube },
    ...issuer,
    verifyIdToken: unlessHalted(issuer.verifyIdToken, halted),
    onboarding,
    onboardingController,
    inbox,
    metrics,
    losses,
    clock,
    log,
  }
  const loops = [inbox, onboardingController.search, sweeper, ...checkpoints, resealing, waitingCount, issuer.refusals]
  return { context, loops: mode === 'standalone' ? loops : [...loops, sharedKey] }
}

type Asking = { readonly reviews: AccessReviews; readonly people: People }

function approvalsOf({ kube, store, manager, log }: BrokerDeps, { reviews, people }: Asking): BrokerContext['approvals'] {
  const previews = createVisiblePreviews({ reviews, pipelines: manager.cache(appPipeline) })
  const { repositoryClient } = people
  return { kube, audit: store.audit, log, previews, installations: manager.cache(installation), repositoryClient }
}

function grantAnswersOf({ kube, store, manager, log }: BrokerDeps, asking: Asking): BrokerContext['grantAnswers'] {
  const grants = createVisibleGrants({ ...asking, grants: manager.cache(repositoryGrant), kube })
  return { kube, audit: store.audit, log, grants, installations: manager.cache(installation), halts: manager.cache(halt) }
}

/** An ID token of a person who is halted counts no more. */
function unlessHalted(verify: BrokerContext['verifyIdToken'], halted: HaltedPeople): BrokerContext['verifyIdToken'] {
  return async token => {
    const identity = await verify(token)
    halted.refuse(identity.host, identity.userId)
    return identity
  }
}

/** A form may end at GitHub (install the App) or at a program on the person's own computer (kubectl). */
function createHeaders({ settings, manager }: BrokerDeps): () => SecurityHeaderOptions {
  const apps = manager.cache(clusterGitHubApp)
  return derivedFrom(
    () => apps.get({ name: settings.githubApp }),
    app => {
      const github = app === undefined ? [] : [new URL(endpointsOfApp(app).web).origin]
      return { formTargets: [...github, 'http://127.0.0.1:*'], strictTransport: true }
    },
  )
}

async function createServer(
  { settings, certificate, metrics, log }: BrokerDeps,
  headers: () => SecurityHeaderOptions,
  proven: ProvenClient,
): Promise<WebServer> {
  const server = await createWebServer({
    log,
    trustedProxies: settings.trustedProxies,
    proxyProtocol: settings.proxyProtocol === 'required',
    provenClient: proven,
    observe: createHttpMetrics(metrics ?? new Registry(), 'broker'),
    ...(certificate ? { certificate } : {}),
    headers: derivedFrom(headers, of => ({ ...of, ownScripts: true })),
    errorPage: (answer, requestId) => errorPage(answer.message, requestId, answer.status),
  })
  await server.register(cookie)
  await server.register(formbody, { bodyLimit: 65_536 })
  return server
}
