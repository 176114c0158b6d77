// The broker as the process under test, assembled as the product does it: as its own role of the database.
import { createBrokerApp } from '../../../src/broker/app.ts'
import { readBrokerSettings } from '../../../src/broker/config.ts'
import { readServerStoreSettings } from '../../../src/store/config.ts'
import { openBrokerStore } from '../../../src/store/open-store.ts'
import type { OpenComponent } from './component.ts'

export const openComponent: OpenComponent = async ({ environment, ...deps }) => {
  const { location, sealingKeys } = readServerStoreSettings(environment)
  const store = await openBrokerStore({ ...location, sealingKeys, clock: deps.clock, log: deps.log })
  const app = await createBrokerApp({
    ...deps,
    mode: 'production',
    store,
    settings: readBrokerSettings(environment),
    random: Math.random,
  })
  return { ...app, close: store.close }
}
