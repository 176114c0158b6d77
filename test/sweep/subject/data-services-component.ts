// Data services as the process under test, assembled as the product does it. It has no store of its own.
import { createDataServicesApp } from '../../../src/data-services/app.ts'
import type { OpenComponent } from './component.ts'

export const openComponent: OpenComponent = async ({ environment: _none, ...deps }) => ({
  ...createDataServicesApp(deps),
  close: async () => {},
})
