// The controllers as the process under test, assembled as the product does it: as their own role of the database.
import { createControllersApp } from '../../../src/controllers/app.ts'
import { readControllersSettings } from '../../../src/controllers/config.ts'
import { readServerStoreSettings } from '../../../src/store/config.ts'
import { openControllersStore } from '../../../src/store/open-store.ts'
import type { OpenComponent } from './component.ts'

/** The probe of the walls makes no round here: SEKISHO_WALL_PROBE_SECONDS of the environment. */
const kubeWith = () => {
  throw new Error('no walls are tried in the sweep')
}

export const openComponent: OpenComponent = async ({ environment, ...deps }) => {
  const { location, sealingKeys } = readServerStoreSettings(environment)
  const store = await openControllersStore({ ...location, sealingKeys, clock: deps.clock, log: deps.log })
  const app = await createControllersApp({
    ...deps,
    mode: 'production',
    kubeWith,
    settings: readControllersSettings(environment),
    store,
  })
  return { ...app, close: store.close }
}
