// Opens the git proxy: git's smart HTTP for workloads inside the cluster, with tokens that never reach them. It serves on every
// replica, whether it leads or not; who may use what is decided by the token desk.
import { Registry } from 'prom-client'
import { createRepositoryClient, type GitHubMeter } from '../../github/index.ts'
import type { Manager } from '../../kube/manager.ts'
import { createKeyedBuckets } from '../../lib/limits/keyed-buckets.ts'
import { createHttpMetrics } from '../../web/metrics.ts'
import { createWebServer, listen } from '../../web/server.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Part } from '../part.ts'
import type { OpenTokenDesk } from '../token-desk/open.ts'
import type { GitProxySettings } from './config.ts'
import { createProxyMetrics } from './metrics.ts'
import { createUnendedPushes } from './push/unended.ts'
import { gitProxyRoutes } from './server/routes.ts'
import { createGitStreams } from './streams/git-streams.ts'
import { createLoopTurns } from './streams/loop-turns.ts'
import { createGitServer } from './upstream/git-server.ts'
import { createRepositoryNames } from './upstream/repository-names.ts'

export type GitProxyNeeds = Pick<OpenTokenDesk, 'desk' | 'forWorkloads'> & { readonly meter: GitHubMeter }

/** Refs that a tenant may push: two hundred at once, then one a second. Each is two entries of the audit log. */
const refRate = { burst: 200, millisecondsPerToken: 1000 }
/** A push of two gigabytes may take long; each transfer has its own limits of silence. */
const requestMilliseconds = 3_600_000

// Memory (refs pushed through the git proxy): namespace → token bucket
//   life: the process
//   bound: 10,000 namespaces, the one used longest ago forgotten first
//   freshness: none is needed: buckets refill by time
//   replicas: each counts: two allow twice as much
/** Nothing listens before `start`. */
export async function openGitProxy(
  deps: Pick<ServiceDeps<GitProxySettings>, 'settings' | 'store' | 'clock' | 'log' | 'metrics'> & {
    readonly manager: Pick<Manager, 'isLeader'>
  },
  { desk, forWorkloads, meter }: GitProxyNeeds,
): Promise<Part> {
  const { settings, store, clock, log } = deps
  const registry = deps.metrics ?? new Registry()
  const metrics = createProxyMetrics(registry, () => streams.size())
  const streams = createGitStreams({ desk, clock, log, cut: metrics.cut })
  const github = createGitServer(clock)
  const names = createRepositoryNames(
    ({ endpoints, token }) => createRepositoryClient({ endpoints, token, log, clock, observe: meter.requests }),
    clock,
  )
  const { certificate, identify, counted, isBusy } = forWorkloads
  const server = await createWebServer({
    ...{ log, certificate, requestsPerMinute: 6000, connections: { maxOfClient: 64 } },
    patience: { request: requestMilliseconds },
    observe: createHttpMetrics(registry, 'git-proxy'),
  })
  const ends = createUnendedPushes({ audit: store.audit, isLeader: deps.manager.isLeader, clock, log })
  const refs = createKeyedBuckets(refRate, clock)
  const turns = createLoopTurns({ isDeskBusy: isBusy })
  await server.register(
    gitProxyRoutes({ desk, identify, names, counted, github, streams, turns, metrics, audit: store.audit, refs, log }),
  )
  return {
    async start() {
      await listen(server, { host: '0.0.0.0', port: settings.gitProxyPort })
      streams.start()
      ends.start()
    },
    async stop() {
      await Promise.all([streams.stop(), ends.stop()])
      const closed = server.close()
      // Of requests that were refused, a sender may go on for an hour.
      server.server.closeAllConnections()
      await Promise.all([closed, github.close()])
    },
  }
}
