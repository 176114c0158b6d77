// Puts the broker together. Controllers and caches are added to the manager here, so call this before `manager.start()`; `start()`
// after it. Knows people, pages, webhooks and the issuer; never an App key, never an installation token.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { remoteSync } from '../api/apps/remote-sync.ts'
import { type ClusterGitHubApp, clusterGitHubApp } from '../api/github/cluster-github-app.ts'
import { installation } from '../api/github/installation.ts'
import { repositoryGrant } from '../api/github/repository-grant.ts'
import { tenant } from '../api/tenancy/tenant.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'
import { type SecurityHeaderOptions, securityHeaders } from '../web/security-headers.ts'
import { createWebServer, listen } from '../web/server.ts'
import type { Certificate } from '../web/tls.ts'
import { createCheckpointExport } from './audit/checkpoint-export.ts'
import type { BrokerSettings } from './config.ts'
import type { BrokerContext } from './context.ts'
import { createBrokerGitHub, endpointsOfApp } from './github.ts'
import { createBrokerIssuer } from './issuer.ts'
import { createOnboardingWorker } from './onboarding/onboarding-controller.ts'
import type { BeginDeps } from './onboarding/prove-binding.ts'
import { errorPage } from './pages/layout.ts'
import { createPeople } from './people/people.ts'
import { registerRoutes } from './routes/index.ts'
import { createPersonSessions } from './sessions.ts'
import { createSweeper } from './sweeper.ts'
import { handleDelivery } from './webhooks/handle-delivery.ts'
import { createInboxWorker } from './webhooks/inbox-worker.ts'

export type BrokerDeps = {
  readonly settings: BrokerSettings
  readonly store: Store
  readonly kube: KubeClient
  readonly manager: Pick<Manager, 'cache' | 'add'>
  /** Absent only where something else ends TLS in front of us on the same host. */
  readonly certificate?: Certificate
  readonly log: Log
  readonly clock: Clock
  readonly random: () => number
}

export type BrokerApp = {
  /** Resolves with the port when requests are served. */
  readonly start: () => Promise<number>
  /** Stops serving, then finishes the work under way. */
  readonly stop: () => Promise<void>
}

/** A form may end at GitHub (install the App) or at a program on the person's own computer (kubectl). */
function formTargets(app: ClusterGitHubApp | undefined): readonly string[] {
  const github = app === undefined ? [] : [new URL(endpointsOfApp(app).web).origin]
  return [...github, 'http://127.0.0.1:*']
}

export async function createBrokerApp(deps: BrokerDeps): Promise<BrokerApp> {
  const { settings, store, kube, manager, clock, random } = deps
  const log = deps.log.child({ process: 'broker' })
  const tenants = manager.cache(tenant)
  const installations = manager.cache(installation)
  const syncs = manager.cache(remoteSync)
  const grants = manager.cache(repositoryGrant)
  const apps = manager.cache(clusterGitHubApp)

  const github = createBrokerGitHub({ appName: settings.githubApp, clientSecret: settings.clientSecret, apps, log, clock })
  const people = createPeople({ users: store.users, github, tenants, clock, log })
  const sessions = createPersonSessions({ sessions: store.sessions, clock, lifeHours: settings.sessionHours })
  const onboarding = createOnboardingWorker({ kube, onboardings: store.onboardings, audit: store.audit, log, clock })
  manager.add(onboarding.controller)

  const begin: BeginDeps = { github, people, onboardings: store.onboardings, audit: store.audit, clock }
  const known = () => ({
    installations: installations.list(),
    syncs: syncs.list(),
    grants: grants.list(),
    tenants: tenants.list(),
  })
  const inbox = createInboxWorker({
    inbox: store.inbox,
    handle: delivery => handleDelivery({ kube, store, known, begin, log }, delivery),
    clock,
    random,
    log,
  })
  const sweeper = createSweeper({ store, onboarding, clock, log })

  const headers = (): SecurityHeaderOptions => ({
    formTargets: formTargets(apps.get({ name: settings.githubApp })),
    strictTransport: true,
  })
  const { publicUrl } = settings
  const issuer = await createBrokerIssuer({ publicUrl, store, people, headers: () => securityHeaders(headers()), clock, log })
  const checkpoints = createCheckpointExport({
    kube,
    audit: store.audit,
    keys: issuer.issuerKeys,
    issuer: publicUrl.origin,
    everyMilliseconds: settings.auditCheckpointSeconds * 1000,
    clock,
    log,
  })

  const server = await createWebServer({
    log,
    ...(deps.certificate ? { certificate: deps.certificate } : {}),
    headers,
    errorPage: (answer, requestId) => errorPage(answer.message, requestId, answer.status),
  })
  await server.register(cookie)
  await server.register(formbody, { bodyLimit: 65_536 })
  const context: BrokerContext = {
    settings,
    store,
    github,
    people,
    sessions,
    tenants,
    installations,
    ...issuer,
    onboarding,
    inbox,
    clock,
    log,
  }
  await registerRoutes(server, context)

  return {
    async start() {
      // First, because it may fail: then nothing goes on that nobody stops.
      const port = await listen(server, { host: settings.address, port: settings.port })
      inbox.start()
      sweeper.start()
      checkpoints.start()
      log.info({ port, publicUrl: publicUrl.origin }, 'broker serves')
      return port
    },
    async stop() {
      await server.close()
      await Promise.all([inbox.stop(), sweeper.stop(), checkpoints.stop()])
    },
  }
}
