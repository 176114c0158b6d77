// Data services as a process of their own: they make databases and credentials on the servers of the ServiceClasses. It holds
// the passwords of those servers' administrators and nothing else: no App key, no token, no key that seals, no database of
// the platform.
import { processEnvironment, readTogether } from '../lib/config.ts'
import { readProcessSettings } from '../process/config.ts'
import { electedManager, openProcess } from '../process/open-process.ts'
import { runUntilStopped } from '../process/run.ts'
import { createDataServicesApp } from './app.ts'

const environment = processEnvironment()

await runUntilStopped(async onStop => {
  const settings = readTogether({ process: readProcessSettings }, environment)
  const process = await openProcess({ name: 'data-services', settings: settings.process, environment, onStop })
  const manager = electedManager(process, 'sekisho-data-services', settings.process.name)
  const app = createDataServicesApp({ ...process, manager })
  await process.startInOrder([app, manager], { manager: manager.ready })
  process.log.info({}, 'data services started')
})
