// The broker as a process of its own: the internet side. It needs a database as the broker's role, its serving certificate, and
// the OAuth and webhook secrets. It has neither a key of a GitHub App nor an installation token, and its ServiceAccount can
// read no Secret.
import { processEnvironment, readTogether } from '../lib/config.ts'
import { readProcessSettings } from '../process/config.ts'
import { electedManager, openProcess } from '../process/open-process.ts'
import { runUntilStopped } from '../process/run.ts'
import { readServerStoreSettings } from '../store/config.ts'
import { openBrokerStore } from '../store/open-store.ts'
import { certificateFromFiles } from '../web/tls.ts'
import { createBrokerApp } from './app.ts'
import { readBrokerSettings } from './config.ts'

const environment = processEnvironment()
const readers = { process: readProcessSettings, store: readServerStoreSettings, broker: readBrokerSettings }

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const process = await openProcess({ name: 'broker', settings: settings.process, environment, onStop })
  const { log, clock, metrics } = process
  const { location, sealingKeys } = settings.store
  const store = await openBrokerStore({ ...location, sealingKeys, clock, log, metrics })
  onStop(store.close)
  const certificate = certificateFromFiles(settings.broker, { log })
  onStop(certificate.stop)

  const manager = electedManager(process, 'sekisho-broker', settings.process.name)
  const broker = await createBrokerApp({
    ...process,
    mode: 'production',
    manager,
    certificate,
    store,
    settings: settings.broker,
  })
  await process.startInOrder([manager, broker], { manager: manager.ready, store: store.healthy })
  log.info({ publicUrl: settings.broker.publicUrl.origin }, 'broker started')
})
