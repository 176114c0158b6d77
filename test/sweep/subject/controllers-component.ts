// The controllers as the process under test, assembled as the product does it.
import { createControllersApp } from '../../../src/controllers/app.ts'
import { readControllersSettings } from '../../../src/controllers/config.ts'
import type { OpenComponent } from './component.ts'

export const openComponent: OpenComponent = ({ environment, store, kube, manager, log, clock }) =>
  createControllersApp({ settings: readControllersSettings(environment), store, kube, manager, log, clock })
