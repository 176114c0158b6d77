// What every process has: how much it logs and where its operator looks.
import { choiceSetting, type Environment, portSetting, readSettings, textSetting } from '../lib/config.ts'

export const processSettings = {
  logLevel: choiceSetting('SEKISHO_LOG_LEVEL', 'how much to log', ['debug', 'info', 'error', 'silent'], { default: 'info' }),
  healthAddress: textSetting('SEKISHO_HEALTH_ADDRESS', 'the address of /livez, /readyz and /metrics', { default: '0.0.0.0' }),
  healthPort: portSetting('SEKISHO_HEALTH_PORT', 'the port of /livez, /readyz and /metrics', { default: '8090' }),
  name: textSetting('HOSTNAME', 'the name of this replica, for people who look at the lease', { default: 'sekisho' }),
}

export function readProcessSettings(environment: Environment) {
  return readSettings(processSettings, environment)
}
