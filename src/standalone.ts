// The whole platform in one process: broker, controllers and admission on one store and one ServiceAccount. It connects the parts and owns
// the order in which they start and stop; it decides nothing.
import { createAdmissionApp } from './admission/app.ts'
import { admissionSettings } from './admission/config.ts'
import { platformIdentities } from './admission/identities.ts'
import { platformNamespace } from './api/names.ts'
import { createBrokerApp } from './broker/app.ts'
import { readBrokerSettings } from './broker/config.ts'
import { createControllersApp } from './controllers/app.ts'
import { readControllersSettings } from './controllers/config.ts'
import { createKubeClient } from './kube/client/kube-client.ts'
import { loadKubeConnection } from './kube/kubeconfig/kubeconfig.ts'
import { createManager } from './kube/manager.ts'
import { createKubeMetrics } from './kube/metrics.ts'
import { systemClock as clock } from './lib/clock.ts'
import { type Environment, processEnvironment, readSettings, readTogether } from './lib/config.ts'
import { createLog } from './lib/log.ts'
import { readStoreSettings } from './store/config.ts'
import { openStore } from './store/open-store.ts'
import { readProcessSettings } from './web/config.ts'
import { createHealthServer } from './web/health.ts'
import { prometheusRegistry } from './web/metrics.ts'
import { runUntilStopped, type Stop } from './web/process.ts'
import { certificateFromFiles } from './web/tls.ts'

const environment = processEnvironment()
const readers = {
  process: readProcessSettings,
  store: readStoreSettings,
  broker: readBrokerSettings,
  controllers: readControllersSettings,
  admission: (variables: Environment) => readSettings(admissionSettings, variables),
}

type Settings = ReturnType<typeof readTogether<typeof readers>>

/** What the apps share: connections and the manager. Their stop functions are passed to `onStop`. */
async function openFoundations(settings: Settings, onStop: (stop: Stop) => void) {
  const log = createLog({ level: settings.process.logLevel, name: 'sekisho' })
  onStop(() => log.info({}, 'sekisho stopped'))
  const random = Math.random
  const metrics = prometheusRegistry({ process: 'standalone' })
  const kubeMetrics = createKubeMetrics(metrics)
  const connection = await loadKubeConnection({ environment, clock })
  const kube = createKubeClient({ connection, component: 'standalone', clock, random, observe: kubeMetrics.observeRequest })
  onStop(kube.close)
  const store = await openStore({ ...settings.store.location, sealingKeys: settings.store.sealingKeys, clock, log })
  onStop(store.close)
  const certificate = certificateFromFiles(settings.broker, { log })
  onStop(certificate.stop)
  const leaderElection = { namespace: platformNamespace, name: 'sekisho', identity: settings.process.name }
  const manager = createManager({ client: kube, log, clock, random, metrics: kubeMetrics, leaderElection })
  return { log, random, metrics, kube, store, certificate, manager }
}

type Foundations = Awaited<ReturnType<typeof openFoundations>>

function createAdmission({ host, port, extraAddresses }: Settings['admission'], { kube, log }: Foundations) {
  return createAdmissionApp({
    client: kube,
    clock,
    log,
    identities: platformIdentities(),
    address: { host, port },
    extraAddresses,
  })
}

/** The parts in the order of their start. Apps add their caches and controllers to the manager before it starts. */
async function createParts(settings: Settings, foundations: Foundations) {
  const { log, metrics, manager, store } = foundations
  const broker = await createBrokerApp({ ...foundations, settings: settings.broker, clock })
  const controllers = await createControllersApp({ ...foundations, settings: settings.controllers, clock })
  const admission = createAdmission(settings.admission, foundations)
  const health = await createHealthServer({
    log,
    metrics,
    address: { host: settings.process.healthAddress, port: settings.process.healthPort },
    checks: { manager: manager.ready, store: store.healthy, admission: admission.ready },
  })
  return [health, admission, manager, controllers, broker]
}

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const foundations = await openFoundations(settings, onStop)
  for (const part of await createParts(settings, foundations)) {
    await part.start()
    onStop(part.stop)
  }
  foundations.log.info({ publicUrl: settings.broker.publicUrl.origin }, 'sekisho started')
})
