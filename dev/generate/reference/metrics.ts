// docs/reference/metrics.md: every metric, read back from a registry on which the product's own code registered them.
import { Registry } from 'prom-client'
import { createAuthorizerMetrics } from '../../../src/authorizer/metrics.ts'
import { createCheckpointMetrics } from '../../../src/broker/audit/metrics.ts'
import { createBucketMetrics } from '../../../src/broker/audit/places/metrics.ts'
import { createBrokerMetrics } from '../../../src/broker/metrics.ts'
import { createBreakGlassCounter, createBuildMetrics, createObjectMetrics } from '../../../src/controllers/metrics.ts'
import { createServiceProxyMetrics } from '../../../src/controllers/service-proxy/metrics.ts'
import { createStatementCounter } from '../../../src/data-services/metrics.ts'
import { createGitHubMeter } from '../../../src/github/index.ts'
import { createKubeMetrics } from '../../../src/kube/metrics.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { prometheusRegistry } from '../../../src/process/metrics.ts'
import { createBuildLogMetrics } from '../../../src/services/builds/logs/metrics.ts'
import { createProxyMetrics } from '../../../src/services/git-proxy/metrics.ts'
import { createImageMetrics } from '../../../src/services/image-cleanup/metrics.ts'
import { createProbeMetrics } from '../../../src/services/network-probe/metrics.ts'
import { createNodeMetrics } from '../../../src/services/node-check/metrics.ts'
import { createRegistryMetrics } from '../../../src/services/registry/token-server/metrics.ts'
import { createDeskMetrics } from '../../../src/services/token-desk/reporting/metrics.ts'
import { createWallMetrics } from '../../../src/services/wall-probe/metrics.ts'
import { createWebhookCertificateMetrics } from '../../../src/services/webhook-certificate/metrics.ts'
import { createAuditMetrics } from '../../../src/store/audit/metrics.ts'
import { createSealingMetrics } from '../../../src/store/resealing/metrics.ts'
import { createHttpMetrics } from '../../../src/web/metrics.ts'
import { code, page, table } from '../markdown.ts'

/** What prom-client keeps of a metric; its types hide the labels. */
type Metric = { readonly name: string; readonly help: string; readonly type: unknown; readonly labelNames?: readonly string[] }

const units = ['seconds', 'bytes'] as const

function metricTable(registry: Registry): string {
  const metrics: readonly Metric[] = registry.getMetricsAsArray()
  return table(
    ['Metric', 'Type', 'Labels', 'Unit', 'Meaning'],
    metrics.map(({ name, help, type, labelNames = [] }) => [
      code(name),
      String(type),
      labelNames.map(code).join(', '),
      units.find(unit => name.replace(/_total$/, '').endsWith(`_${unit}`)) ?? '',
      help,
    ]),
  )
}

/** A registry with every metric of the platform, and one with those of Node.js. */
export function metricRegistries(): readonly [ours: Registry, node: Registry] {
  const ours = new Registry()
  createAuthorizerMetrics(ours, () => '')
  createKubeMetrics(ours)
  createDeskMetrics(ours)
  createProxyMetrics(ours, () => 0)
  createGitHubMeter(ours, systemClock)
  createObjectMetrics(ours, { tenants: { list: () => [] }, grants: { list: () => [] }, approvals: { list: () => [] } })
  createBreakGlassCounter(ours)
  createBuildMetrics(ours, () => ({ running: 0, queued: 0 }))
  createRegistryMetrics(ours)
  createImageMetrics(ours)
  createBuildLogMetrics(ours)
  createProbeMetrics(ours)
  createWallMetrics(ours, () => undefined)
  createNodeMetrics(ours, 'node')
  createServiceProxyMetrics(ours, () => 0)
  createSealingMetrics(ours)
  createStatementCounter(ours)
  createWebhookCertificateMetrics(ours)
  createBrokerMetrics(ours)
  createHttpMetrics(ours, 'broker')
  createAuditMetrics(ours)
  createCheckpointMetrics(ours, () => false)
  createBucketMetrics(ours, () => false)
  return [ours, prometheusRegistry({ process: 'standalone' })]
}

/** The page as Markdown. */
export function metricsPage(): string {
  const [ours, node] = metricRegistries()
  const sections = [
    'Each process serves its metrics in the text format of Prometheus at `/metrics` of its health server (`SEKISHO_HEALTH_ADDRESS`, `SEKISHO_HEALTH_PORT`). Every metric has the label `process`, which names the process. Histograms have the usual series `_bucket`, `_sum` and `_count`.',
    '## Metrics of the platform',
    metricTable(ours),
    table(
      ['Label', 'Values'],
      [
        [
          '`action`, `outcome`',
          'of an entry of the audit log: [audit-events.md](audit-events.md); of a build `Succeeded`, `Failed`, `TimedOut` or `Cancelled`',
        ],
        [
          '`app`, `installation`',
          'the numeric id on GitHub; of installations only the 20 that have the smallest share of their limit left are series',
        ],
        ['`code`', 'the HTTP status of the response; `0` if there was none'],
        ['`controller`', 'the controller, such as `remote-sync`'],
        ['`kind`', 'the Kubernetes kind, such as `RemoteSync`'],
        ['`verb`', 'the verb of the Kubernetes API, such as `get` or `watch`'],
        ['`decision`', '`Approved`, `Denied` or `Undecided`'],
        ['`host`', 'the GitHub host, such as `github.com`'],
        ['`operation`', '`mint` (a token), `revoke` (a token), `read` or `write`'],
        ['`ready`', '`true` or `false`'],
        ['`route`', 'the route as the code has it, such as `/tenants/:tenant`; `none` where there is no such route'],
        ['`server`', '`broker` or `token-desk`'],
        [
          '`state`',
          'of tokens `live`, `revoking` or `suspended`; of builds `running` or `queued`; of onboardings such as `waiting-for-admin`',
        ],
        [
          '`result`',
          '`success`, `requeue_after`, `error` or `timeout`; of registry tokens `issued`, `narrowed` (less than was asked for), `refused` or `limited`; of others the help of the metric has them',
        ],
        ['`priority`', '`normal`; `low` for objects that are checked at the start of the process or again after a time'],
        ['`direction`', '`ingress` or `egress`'],
        ['`service_class`', 'the name of the ServiceClass, which platform admins give'],
        [
          '`reason`',
          'why a watch ended, such as `ended` or `unreachable`; why a delivery was ignored, such as `another_app`; why a token was refused: [errors.md](errors.md)',
        ],
      ],
    ),
    '## Metrics of Node.js and the process',
    'These come from the library prom-client and are the same in every Node.js program that uses it.',
    metricTable(node),
  ]
  return page({
    title: 'Metrics',
    subject: 'This page lists the metrics of Sekisho.',
    source: 'the code that registers them (`metrics.ts` of each owner, such as `src/kube/metrics.ts`)',
    sections,
  })
}
