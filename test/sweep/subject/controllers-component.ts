// The controllers as the process under test, assembled as the product does it: as their own role of the database.
import { createControllersApp } from '../../../src/controllers/app.ts'
import { readControllersSettings } from '../../../src/controllers/config.ts'
import { readServerStoreSettings } from '../../../src/store/config.ts'
import { openControllersStore } from '../../../src/store/open-store.ts'
import type { OpenComponent } from './component.ts'

export const openComponent: OpenComponent = async ({ environment, ...deps }) => {
  const { location, sealingKeys } = readServerStoreSettings(environment)
  const store = await openControllersStore({ ...location, sealingKeys, clock: deps.clock, log: deps.log })
  const app = await createControllersApp({ ...deps, mode: 'production', settings: readControllersSettings(environment), store })
  return { ...app, close: store.close }
}
