// The settings of every process: its log level, its health port and its name.
import { choiceSetting, type Environment, portSetting, readSettings, textSetting } from '../lib/config.ts'

/** The settings of every process. */
export const processSettings = {
  logLevel: choiceSetting('SEKISHO_LOG_LEVEL', 'how much to log', ['debug', 'info', 'error', 'silent'], { default: 'info' }),
  healthAddress: textSetting('SEKISHO_HEALTH_ADDRESS', 'the address of /livez, /readyz and /metrics', { default: '0.0.0.0' }),
  healthPort: portSetting('SEKISHO_HEALTH_PORT', 'the port of /livez, /readyz and /metrics', { default: '8090' }),
  name: textSetting('HOSTNAME', 'the name of this replica in the lease', { default: 'sekisho' }),
}

/** Throws `invalid_configuration` that names every variable at fault. */
export function readProcessSettings(environment: Environment) {
  return readSettings(processSettings, environment)
}
