// The product's Application controller as a process, controlled by lines of JSON like the peer: the code path of production
// (manager, caches, chart renderer in its threads, server-side apply, status, Events, metrics), without the controllers that
// the bench does not use.
import { Registry } from 'prom-client'
import { platformNamespace } from '../../../src/api/names.ts'
import { keyText } from '../../../src/api/resource.ts'
import { createApplicationController } from '../../../src/controllers/application/index.ts'
import { createApplicationChartController } from '../../../src/controllers/application-chart/index.ts'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import type { RequestObserver } from '../../../src/kube/client/transport.ts'
import { loadKubeConnection } from '../../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../../../src/kube/manager.ts'
import { createKubeMetrics } from '../../../src/kube/metrics.ts'
import { createEventRecorder } from '../../../src/kube/object/events.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createChartRenderer } from '../../../src/services/charts/renderer.ts'
import { withoutDomains } from '../../fixtures/domains.ts'
import { dispatchCommands, liveHeapBytes } from '../harness/command-server.ts'
import { ingress } from './applications.ts'

const counts = { writes: 0, lists: 0, failures: 0, reconciles: 0 }
const reconciled = new Set<string>()
const random = Math.random
// Standard output carries the answers.
const log = createLog({ level: 'silent', name: 'bench' })

const counting =
  (observe: RequestObserver): RequestObserver =>
  (request, status, seconds) => {
    if (request.verb === 'list') counts.lists += 1
    else if (request.verb !== 'get' && request.verb !== 'watch') counts.writes += 1
    // A 404 tells the controller that an object does not exist yet.
    if (status === 0 || (status >= 400 && status !== 404)) counts.failures += 1
    observe(request, status, seconds)
  }

function start(): void {
  const metrics = createKubeMetrics(new Registry())
  const observe = counting(metrics.observeRequest)
  const client = createKubeClient({ connection, component: 'bench', clock, random, observe })
  const manager = createManager({ client, log, clock, random, metrics })
  const events = createEventRecorder({ client, clock, log, component: 'sekisho-controllers' })
  const deps = { manager, renderer, events, clock, log, platformNamespace }
  const applications = createApplicationController({
    ...deps,
    ...withoutDomains,
    // The load is one tenant's: it measures the controller, not the limit of a tenant.
    changePace: { wait: () => 0 },
    ingress,
    registry: {
      place: { registry: 'registry.test', aliases: [] },
      pullSecret: undefined,
      labelsOf: () => Promise.reject(new Error('no image of the bench is read')),
    },
  })
  manager.add({
    ...applications,
    async reconcile(context) {
      const outcome = await applications.reconcile(context)
      counts.reconciles += 1
      reconciled.add(keyText(context.key))
      return outcome
    },
  })
  manager.add(createApplicationChartController(deps))
  manager.start().catch((error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`)
    process.exit(1)
  })
}

const connection = await loadKubeConnection({ environment: process.env, clock })
const renderer = createChartRenderer()
// Everything is loaded and the chart thread is ready before the measurement: the bench measures a running controller, not its
// start.
await renderer.check({ kind: 'built-in', name: 'web', revision: 'bench' }, 30_000)
await dispatchCommands({
  async start() {
    start()
    return { started: true }
  },
  count: async () => ({ ...counts, reconciled: reconciled.size }),
  async memory() {
    // The bench's own records are not the controller's memory.
    reconciled.clear()
    return { heapBytes: liveHeapBytes() }
  },
})
process.exit(0)
