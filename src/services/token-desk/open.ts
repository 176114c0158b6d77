// Opens the token desk: the clients of the GitHub Apps, the desk, its certificate, its server for workloads and its loops.
// It is the only place in this process where App keys and installation tokens meet; it never holds a user's token.
import { Registry } from 'prom-client'
import { clusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import { halt } from '../../api/github/halt.ts'
import { installation } from '../../api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import type { ReadNamedSecret } from '../../api/named-secret.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { keyOf } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { createTokenRevoker, type GitHubMeter } from '../../github/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { EventRecorder } from '../../kube/object/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { periodic } from '../../lib/periodic.ts'
import { type CountedAudit, createCountedAudit } from '../../store/audit/counted-audit.ts'
import { createHttpMetrics } from '../../web/metrics.ts'
import { createWebServer, listen } from '../../web/server.ts'
import type { Certificate } from '../../web/tls.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Part } from '../part.ts'
import { createRedelivery } from '../redelivery/poll.ts'
import { createGitHubApps, type GitHubApps } from './app-clients.ts'
import type { TokenDeskSettings } from './config.ts'
import { createTokenDesk } from './desk.ts'
import { readyInstallations } from './ready-installations.ts'
import { createTokenCount, measuredDesk } from './reporting/measured-desk.ts'
import { createDeskMetrics } from './reporting/metrics.ts'
import { announcing } from './reporting/revocation-events.ts'
import { openTokenDeskCertificate } from './server/certificate.ts'
import { createInProgress } from './server/in-progress.ts'
import { tokenRoutes } from './server/routes.ts'
import { type IdentifyWorkload, workloadIdentifier } from './server/workload.ts'
import { createTokenSweep } from './sweep.ts'
import type { TokenDesk } from './token-desk.ts'

export type OpenTokenDesk = Part & {
  readonly desk: TokenDesk
  readonly githubApps: GitHubApps
  /** PEM of the authorities that workloads must trust now. */
  readonly certificateAuthorities: () => string
  /** What everything that serves workloads shares: one certificate, one set of limits. */
  readonly forWorkloads: {
    readonly certificate: Certificate
    readonly identify: IdentifyWorkload
    readonly counted: CountedAudit
    /** Whether somebody waits for a token, or to be identified. */
    readonly isBusy: () => boolean
  }
}

export type TokenDeskNeeds = {
  readonly secretOf: ReadNamedSecret
  readonly tenantsIn: (namespace: string) => readonly Tenant[]
  readonly events: Pick<EventRecorder, 'record'>
  readonly meter: GitHubMeter
}

/** Call before the manager starts: it adds caches. */
export async function openTokenDesk(
  deps: ServiceDeps<TokenDeskSettings>,
  { secretOf, tenantsIn, events, meter }: TokenDeskNeeds,
): Promise<OpenTokenDesk> {
  const { settings, store, kube, manager, clock, log } = deps
  const { isLeader } = manager
  const apps = manager.cache(clusterGitHubApp)
  const githubApps = createGitHubApps({ apps, secretOf, isLeader, log, clock, meter })
  const installations = manager.cache(installation)
  const grants = manager.cache(repositoryGrant)
  const metrics = createDeskMetrics(deps.metrics ?? new Registry())
  const counted = createCountedAudit({ audit: store.audit, clock, log })
  const deskDeps = {
    client: kube,
    githubApps,
    tokens: store.tokens,
    audit: announcing(store.audit, { grants, events }),
    revokeAtGitHub: createTokenRevoker({ log, clock, observe: meter.requests }),
    isReady: readyInstallations(installations),
    cached: { grants, installations, halts: manager.cache(halt) },
    counted,
    wakeGrant: wakeBy(kube, clock),
    tenantOf: (namespace: string) => tenantsIn(namespace)[0],
    minting: metrics.minted,
    meter,
    clock,
    log,
  }
  const inProgress = createInProgress()
  const measured = measuredDesk(createTokenDesk(deskDeps), { metrics, clock })
  const desk: TokenDesk = { ...measured, request: asked => inProgress.during(() => measured.request(asked)) }
  const certificate = await openTokenDeskCertificate({
    keys: store.keys,
    audit: store.audit,
    hosts: [settings.tokenDeskHost, settings.gitProxyHost],
    generation: settings.tokenDeskAuthorityGeneration,
    overlapHours: settings.tokenDeskAuthorityOverlapHours,
    clock,
    log,
  })
  const server = await createWebServer({
    ...{ log, certificate, requestsPerMinute: 6000, connections: { maxOfClient: 64 } },
    observe: createHttpMetrics(deps.metrics ?? new Registry(), 'token-desk'),
  })
  const identifyWorkload = workloadIdentifier({ client: kube, clock })
  const identify: IdentifyWorkload = (bearer, address) => inProgress.during(() => identifyWorkload(bearer, address))
  await server.register(tokenRoutes({ desk, identify }))
  const everyMilliseconds = settings.redeliverySeconds * 1000
  const loops = [
    certificate,
    periodic({ name: 'token desk counts', everyMilliseconds: 5000, work: () => counted.flush(), clock, log }),
    createTokenSweep({ ...deskDeps, isLeader }),
    createTokenCount({ tokens: store.tokens, metrics, clock, log }),
    createRedelivery({ apps, githubApps, isLeader, clock, log, everyMilliseconds }),
  ]
  return {
    desk,
    githubApps,
    certificateAuthorities: certificate.authorities,
    forWorkloads: { certificate, identify, counted, isBusy: inProgress.isAny },
    async start() {
      await listen(server, { host: '0.0.0.0', port: settings.tokenDeskPort })
      for (const loop of loops) loop.start()
    },
    async stop() {
      await Promise.all([server.close(), ...loops.map(loop => loop.stop())])
      await counted.flush(true)
    },
  }
}

/** Not through the manager's client: the replica that delivered the token may not lead. */
function wakeBy(kube: Pick<KubeClient, 'mergePatch'>, clock: Clock): (grant: RepositoryGrant) => Promise<void> {
  return async grant => {
    const patch = { metadata: { annotations: { [wakeAnnotation]: `${clock.now().toISOString()}/token-desk` } } }
    await kube.mergePatch(repositoryGrant, keyOf(grant), patch, { fieldManager: 'sekisho.dev/token-desk' })
  }
}
