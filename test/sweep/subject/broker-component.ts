// The broker as the process under test, assembled as the product does it.
import { createBrokerApp } from '../../../src/broker/app.ts'
import { readBrokerSettings } from '../../../src/broker/config.ts'
import type { OpenComponent } from './component.ts'

export const openComponent: OpenComponent = ({ environment, ...deps }) =>
  createBrokerApp({ ...deps, settings: readBrokerSettings(environment), random: Math.random })
