// The whole platform in one process: broker, controllers, admission and data services on one ServiceAccount. It connects the
// parts and owns the order in which they start and stop; it decides nothing.
// `src/{broker,controllers,admission,data-services}/main.ts` run them apart.
import { createAdmissionApp } from './admission/app.ts'
import { sealerFrom } from './admission/app-secrets/public-key.ts'
import { readAdmissionSettings } from './admission/config.ts'
import { createBrokerApp } from './broker/app.ts'
import { readBrokerSettings } from './broker/config.ts'
import { createControllersApp } from './controllers/app.ts'
import { readControllersSettings } from './controllers/config.ts'
import { createDataServicesApp } from './data-services/app.ts'
import { processEnvironment, readTogether } from './lib/config.ts'
import { readProcessSettings } from './process/config.ts'
import { electedManager, openProcess } from './process/open-process.ts'
import { runUntilStopped } from './process/run.ts'
import { readStoreSettings } from './store/config.ts'
import { openStore } from './store/open-store.ts'
import { certificateFromFiles } from './web/tls.ts'

const environment = processEnvironment()
const readers = {
  process: readProcessSettings,
  store: readStoreSettings,
  broker: readBrokerSettings,
  controllers: readControllersSettings,
  admission: readAdmissionSettings,
}

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const process = await openProcess({ name: 'standalone', settings: settings.process, environment, onStop })
  const { log, clock, metrics } = process
  const { location, sealingKeys } = settings.store
  const store = await openStore({ ...location, sealingKeys, clock, log, metrics })
  onStop(store.close)
  const certificate = certificateFromFiles(settings.broker, { log })
  onStop(certificate.stop)

  const manager = electedManager(process, 'sekisho', settings.process.name)
  const broker = await createBrokerApp({
    ...process,
    mode: 'standalone',
    manager,
    certificate,
    store: store.broker,
    settings: settings.broker,
  })
  const controllers = await createControllersApp({
    ...process,
    mode: 'standalone',
    manager,
    store: store.controllers,
    settings: settings.controllers,
  })
  const dataServices = createDataServicesApp({ ...process, manager })
  const { files, appSecretsKeyPath: _, ...called } = settings.admission
  const webhookCertificate = certificateFromFiles(files, { log })
  onStop(webhookCertificate.stop)
  const findSealer = sealerFrom(async () => controllers.appSecretsKey(), { log })
  const admission = createAdmissionApp({ clock, log, certificate: webhookCertificate, findSealer, ...called })
  // The webhook first: it reviews the writes of the others.
  const checks = { manager: manager.ready, store: store.healthy, admission: admission.ready }
  await process.startInOrder([admission, dataServices, manager, controllers, broker], checks)
  log.info({ publicUrl: settings.broker.publicUrl.origin }, 'sekisho started')
})
