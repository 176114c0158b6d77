// The broker as a process of its own: environment → store, cluster, certificate → app → serve until told to stop.
import { hostname } from 'node:os'
import { createKubeClient } from '../kube/kube-client.ts'
import { loadKubeConnection } from '../kube/kubeconfig.ts'
import { createManager } from '../kube/manager.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { openStore } from '../store/open-store.ts'
import { createHealthServer } from '../web/health.ts'
import { prometheusRegistry } from '../web/metrics.ts'
import { runUntilStopped } from '../web/process.ts'
import { certificateFromFiles } from '../web/tls.ts'
import { createBrokerApp } from './app.ts'
import { processEnvironment, readBrokerSettings, readProcessSettings } from './config.ts'

await runUntilStopped(async () => {
  const environment = processEnvironment()
  const settings = readBrokerSettings(environment)
  const { databaseUrl, dataFolder, sealingKeys, logLevel, healthPort } = readProcessSettings(environment)
  const log = createLog({ level: logLevel, name: 'sekisho-broker' })
  const clock = systemClock
  const random = Math.random
  const store = await openStore({ ...(databaseUrl ? { url: databaseUrl } : { dataFolder }), sealingKeys, clock, log })
  const kube = createKubeClient({
    connection: await loadKubeConnection({ environment, clock }),
    component: 'broker',
    clock,
    random,
  })
  const manager = createManager({ client: kube, log, clock, random })
  const certificate = certificateFromFiles(settings, { log })
  const app = await createBrokerApp({ settings, store, kube, manager, certificate, log, clock, random })
  const metrics = prometheusRegistry({ process: 'broker', instance: hostname() })
  const checks = { caches: manager.ready, store: store.healthy }
  const health = await createHealthServer({ log, checks, metrics, address: { host: '0.0.0.0', port: healthPort } })
  await health.start()
  await manager.start()
  await app.start()
  return async () => {
    await app.stop()
    await manager.stop()
    certificate.stop()
    await health.stop()
    await kube.close()
    await store.close()
  }
})
