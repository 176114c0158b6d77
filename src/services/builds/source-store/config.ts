// The settings of the source store: its own process reads all of them, the controllers those that they share with it.
import { choiceSetting, type Environment, integerSetting, portSetting, readSettings, textSetting } from '../../../lib/config.ts'

/** Shared with the controllers. */
export const sharedSourceSettings = {
  sourcePort: portSetting('SEKISHO_SOURCE_PORT', 'the port of the source store', { default: '8081' }),
  sourceMegabytes: integerSetting('SEKISHO_SOURCE_MEGABYTES', 'the maximum size of one fetched commit in MiB', {
    minimum: 1,
    maximum: 10_000,
    default: '500',
  }),
}

/** Of the process `src/services/builds/source-store/main.ts`. */
export const sourceStoreSettings = {
  sourceSocket: textSetting(
    'SEKISHO_SOURCE_SOCKET',
    'the unix socket on which the source store takes orders, in a folder that only its container and that of the controllers mount',
  ),
  sourceFolder: textSetting('SEKISHO_SOURCE_FOLDER', 'the folder of the source store', { default: '/var/lib/sekisho-sources' }),
  logLevel: choiceSetting('SEKISHO_LOG_LEVEL', 'how much to log', ['debug', 'info', 'error', 'silent'], { default: 'info' }),
  ...sharedSourceSettings,
}

/** Throws `invalid_configuration` that names every variable at fault. */
export function readSourceStoreSettings(environment: Environment) {
  return readSettings(sourceStoreSettings, environment)
}
