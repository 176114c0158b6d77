// docs/reference/metrics.md: every metric, read back from a registry on which the product's own code registered them.
import { Registry } from 'prom-client'
import { createBrokerMetrics } from '../../../src/broker/metrics.ts'
import { createServiceProxyMetrics } from '../../../src/controllers/service-proxy/metrics.ts'
import { createKubeMetrics } from '../../../src/kube/metrics.ts'
import { prometheusRegistry } from '../../../src/process/metrics.ts'
import { createBuildLogMetrics } from '../../../src/services/builds/logs/metrics.ts'
import { createImageMetrics } from '../../../src/services/image-cleanup/metrics.ts'
import { createProbeMetrics } from '../../../src/services/network-probe/metrics.ts'
import { createNodeMetrics } from '../../../src/services/node-check/metrics.ts'
import { createRegistryMetrics } from '../../../src/services/registry/token-server/metrics.ts'
import { createWebhookCertificateMetrics } from '../../../src/services/webhook-certificate/metrics.ts'
import { createSealingMetrics } from '../../../src/store/resealing/metrics.ts'
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

/** The page as Markdown. */
export function metricsPage(): string {
  const ours = new Registry()
  createKubeMetrics(ours)
  createRegistryMetrics(ours)
  createImageMetrics(ours)
  createBuildLogMetrics(ours)
  createProbeMetrics(ours)
  createNodeMetrics(ours, 'node')
  createServiceProxyMetrics(ours, () => 0)
  createSealingMetrics(ours)
  createWebhookCertificateMetrics(ours)
  createBrokerMetrics(ours)
  const node = prometheusRegistry({ process: 'standalone' })
  const sections = [
    'Each process serves its metrics in the text format of Prometheus at `/metrics` of its health server (`SEKISHO_HEALTH_ADDRESS`, `SEKISHO_HEALTH_PORT`). Every metric has the label `process`, which names the process. Histograms have the usual series `_bucket`, `_sum` and `_count`.',
    '## Metrics of the platform',
    metricTable(ours),
    table(
      ['Label', 'Values'],
      [
        ['`controller`', 'the controller, such as `remote-sync`'],
        ['`kind`', 'the Kubernetes kind, such as `RemoteSync`'],
        ['`verb`', 'the verb of the Kubernetes API, such as `get` or `watch`'],
        ['`code`', 'the HTTP status of the response; `0` if there was none'],
        [
          '`result`',
          '`success`, `requeue_after`, `error` or `timeout`; of registry tokens `issued`, `narrowed` (less than was asked for), `refused` or `limited`',
        ],
        ['`priority`', '`normal`; `low` for objects that are checked at the start of the process or again after a time'],
        ['`direction`', '`ingress` or `egress`'],
        ['`reason`', 'why a watch ended, such as `ended` or `unreachable`; why a delivery was ignored, such as `another_app`'],
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
