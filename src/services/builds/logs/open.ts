// Opens what keeps build logs: the collector, which reads the pods of builds, and the deletion of what is old. It holds no key;
// what a build prints passes through it without the secrets that the build was given.
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { secrets } from '../../../api/builtin/index.ts'
import { appSecretSecretName } from '../../../api/names.ts'
import { tenant } from '../../../api/tenancy/tenant.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { ServiceDeps } from '../../deps.ts'
import { type Part, partOf } from '../../part.ts'
import type { LoggedBuild } from '../builder.ts'
import { causeOf } from '../cause/cause.ts'
import { tailOf } from '../cause/log-tail.ts'
import type { BuildSettings } from '../config.ts'
import { createLogCollector, type LogCollector } from './collector.ts'
import { type BuildLogMetrics, createBuildLogMetrics } from './metrics.ts'
import { createLogRetention } from './retention.ts'

export type OpenBuildLogs = Part & Pick<LogCollector, 'collectFrom'>

const megabyte = 1_048_576
const maxBeginning = megabyte
const uncounted: BuildLogMetrics = { written: () => {}, streams: () => {}, ended: () => {} }

/** Call before the manager starts: it asks for a cache. Nothing runs before `start`. */
export function openBuildLogs({
  settings,
  store,
  kube: client,
  manager,
  metrics,
  clock,
  log,
}: ServiceDeps<BuildSettings>): OpenBuildLogs {
  const { isLeader } = manager
  const logs = store.buildLogs
  const { written, streams, ended } = metrics === undefined ? uncounted : createBuildLogMetrics(metrics)
  const collector = createLogCollector({
    logs,
    kept: store.keptLogs,
    client,
    limits: { most: settings.buildLogMegabytes * megabyte, beginning: maxBeginning },
    maxStreams: settings.buildLogStreams,
    maxStreamsOfTenant: Math.floor(settings.buildLogStreams / 2),
    count: written,
    observe: streams,
    ended,
    secretsOf: build => secretsOf(client, build),
    causeOf: ({ log: end }) => causeOf(end)?.sentence ?? tailOf(end).split('\n').at(-1),
    isLeader,
    random: Math.random,
    clock,
    log,
  })
  const retention = createLogRetention({
    logs,
    remoteSyncs: manager.cache(remoteSync),
    tenants: manager.cache(tenant),
    client,
    days: settings.buildLogDays,
    maxOfTenant: settings.buildLogTenantMegabytes * megabyte,
    isLeader,
    clock,
    log,
  })
  return { collectFrom: collector.collectFrom, ...partOf(collector, retention) }
}

/** The values of the AppSecrets that the build was given, as they are now. One without values gave the build none. */
async function secretsOf(client: Pick<KubeClient, 'get'>, build: LoggedBuild): Promise<readonly SecretString[]> {
  const { namespace } = build.owner
  const found = await Promise.all(build.secrets.map(name => client.get(secrets, { namespace, name: appSecretSecretName(name) })))
  return found
    .flatMap(secret => Object.values(secret?.data ?? {}))
    .map(value => new SecretString(Buffer.from(value, 'base64').toString('utf8')))
}
