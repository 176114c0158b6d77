// The whole platform in one process: broker, controllers and admission on one store and one ServiceAccount. For one team, or to try it;
// production runs the three apart, so that whoever takes one of them does not have all secrets. Composition only: it decides nothing.
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
import { messageOf } from './lib/errors.ts'
import { createLog } from './lib/log.ts'
import { readStoreSettings } from './store/config.ts'
import { openStore } from './store/open-store.ts'
import { readProcessSettings } from './web/config.ts'
import { createHealthServer } from './web/health.ts'
import { prometheusRegistry } from './web/metrics.ts'
import { certificateFromFiles } from './web/tls.ts'

const readers = {
  process: readProcessSettings,
  store: readStoreSettings,
  broker: readBrokerSettings,
  controllers: readControllersSettings,
  admission: (environment: Environment) => readSettings(admissionSettings, environment),
}

type Stoppable = { readonly name: string; readonly stop: () => Promise<void> | void }

async function run(environment: Environment): Promise<void> {
  const settings = readTogether(readers, environment)
  const log = createLog({ level: settings.process.logLevel, name: 'sekisho' })
  const random = Math.random
  const started: Stoppable[] = []
  const stop = once(async () => {
    for (const part of started.toReversed()) await stopPart(part, log.error)
    log.info({}, 'stopped')
  })
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      signals += 1
      // A second one means: now.
      if (signals > 1) process.exit(1)
      void stop().then(() => process.exit(0))
    })

  try {
    const metrics = prometheusRegistry({ process: 'standalone' })
    const kubeMetrics = createKubeMetrics(metrics)
    const connection = await loadKubeConnection({ environment, clock })
    const kube = createKubeClient({ connection, component: 'standalone', clock, random, observe: kubeMetrics.observeRequest })
    started.push({ name: 'kube client', stop: kube.close })
    const store = await openStore({ ...settings.store.location, sealingKeys: settings.store.sealingKeys, clock, log })
    started.push({ name: 'store', stop: store.close })
    const certificate = certificateFromFiles(
      { certificatePath: settings.broker.certificatePath, privateKeyPath: settings.broker.privateKeyPath },
      { log },
    )
    started.push({ name: 'certificate', stop: certificate.stop })
    const manager = createManager({
      client: kube,
      log,
      clock,
      random,
      metrics: kubeMetrics,
      leaderElection: { namespace: platformNamespace, name: 'sekisho', identity: settings.process.name },
    })
    const broker = await createBrokerApp({ settings: settings.broker, store, kube, manager, certificate, log, clock, random })
    const controllers = await createControllersApp({ settings: settings.controllers, store, kube, manager, log, clock })
    const { host, port, extraAddresses } = settings.admission
    const admission = createAdmissionApp({
      client: kube,
      clock,
      log,
      identities: platformIdentities(),
      address: { host, port },
      extraAddresses: extraAddresses
        .split(',')
        .map(address => address.trim())
        .filter(address => address !== ''),
    })
    const health = await createHealthServer({
      log,
      metrics,
      address: { host: settings.process.healthAddress, port: settings.process.healthPort },
      checks: { manager: manager.ready, store: store.healthy, admission: admission.ready },
    })

    await health.start()
    started.push({ name: 'health', stop: health.stop })
    await admission.start()
    started.push({ name: 'admission', stop: admission.stop })
    await manager.start()
    started.push({ name: 'manager', stop: manager.stop })
    await controllers.start()
    started.push({ name: 'controllers', stop: controllers.stop })
    await broker.start()
    started.push({ name: 'broker', stop: broker.stop })
    log.info({ publicUrl: settings.broker.publicUrl.origin }, 'sekisho runs')
  } catch (error) {
    log.error({ error }, 'sekisho cannot start')
    await stop()
    process.exit(1)
  }
}

async function stopPart(
  part: Stoppable,
  report: (fields: { readonly [key: string]: unknown }, message: string) => void,
): Promise<void> {
  try {
    await part.stop()
  } catch (error) {
    report({ part: part.name, problem: messageOf(error) }, 'a part did not stop cleanly')
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work()
    return running
  }
}

run(processEnvironment()).catch((error: unknown) => {
  process.stderr.write(`sekisho: ${messageOf(error)}\n`)
  process.exit(1)
})
