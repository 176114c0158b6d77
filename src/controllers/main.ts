// The controllers as a process of their own, with the token desk, the source store and the registry's token server. It needs a
// database as the desk's role, and reads the keys of the GitHub Apps from the API server. It never has a token of a person, nor
// the secrets of the sign-in.
import { processEnvironment, readTogether } from '../lib/config.ts'
import { readProcessSettings } from '../process/config.ts'
import { electedManager, openProcess } from '../process/open-process.ts'
import { runUntilStopped } from '../process/run.ts'
import { readServerStoreSettings } from '../store/config.ts'
import { openControllersStore } from '../store/open-store.ts'
import { createControllersApp } from './app.ts'
import { readControllersSettings } from './config.ts'

const environment = processEnvironment()
const readers = { process: readProcessSettings, store: readServerStoreSettings, controllers: readControllersSettings }

await runUntilStopped(async onStop => {
  const settings = readTogether(readers, environment)
  const process = await openProcess({ name: 'controllers', settings: settings.process, environment, onStop })
  const { log, clock, metrics } = process
  const { location, sealingKeys } = settings.store
  const store = await openControllersStore({ ...location, sealingKeys, clock, log, metrics })
  onStop(store.close)

  const manager = electedManager(process, 'sekisho-controllers', settings.process.name)
  const controllers = await createControllersApp({
    ...process,
    mode: 'production',
    manager,
    store,
    settings: settings.controllers,
  })
  await process.startInOrder([manager, controllers], { manager: manager.ready, store: store.healthy })
  log.info({}, 'controllers started')
})
