// The broker as a process of its own: environment → store, cluster, certificate → app → serve until told to stop.
import { createKubeClient } from '../kube/client/kube-client.ts'
import { loadKubeConnection } from '../kube/kubeconfig/kubeconfig.ts'
import { createManager } from '../kube/manager.ts'
import { createKubeMetrics } from '../kube/metrics.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { processEnvironment, readTogether } from '../lib/config.ts'
import { createLog } from '../lib/log.ts'
import { readStoreSettings } from '../store/config.ts'
import { openStore } from '../store/open-store.ts'
import { readProcessSettings } from '../web/config.ts'
import { createHealthServer } from '../web/health.ts'
import { prometheusRegistry } from '../web/metrics.ts'
import { runUntilStopped } from '../web/process.ts'
import { certificateFromFiles } from '../web/tls.ts'
import { createBrokerApp } from './app.ts'
import { readBrokerSettings } from './config.ts'

await runUntilStopped(async stopping => {
  const environment = processEnvironment()
  const readers = { process: readProcessSettings, store: readStoreSettings, broker: readBrokerSettings }
  const settings = readTogether(readers, environment)
  const log = createLog({ level: settings.process.logLevel, name: 'sekisho-broker' })
  const random = Math.random
  const store = await openStore({ ...settings.store.location, sealingKeys: settings.store.sealingKeys, clock, log })
  stopping(store.close)
  const connection = await loadKubeConnection({ environment, clock })
  const metrics = prometheusRegistry({ process: 'broker' })
  const kubeMetrics = createKubeMetrics(metrics)
  const kube = createKubeClient({ connection, component: 'broker', clock, random, observe: kubeMetrics.observeRequest })
  stopping(kube.close)
  const certificate = certificateFromFiles(settings.broker, { log })
  stopping(certificate.stop)
  const manager = createManager({ client: kube, log, clock, random, metrics: kubeMetrics })
  stopping(manager.stop)
  const app = await createBrokerApp({ settings: settings.broker, store, kube, manager, certificate, log, clock, random })
  const health = await createHealthServer({
    log,
    checks: { caches: manager.ready, store: store.healthy },
    metrics,
    address: { host: settings.process.healthAddress, port: settings.process.healthPort },
  })
  await health.start()
  stopping(health.stop)
  await manager.start()
  await app.start()
  stopping(app.stop)
})
