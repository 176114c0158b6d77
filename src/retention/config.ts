// Settings of the program that cuts the audit log. No process of the platform reads them.
import { type Environment, optional, readSettings, secretSetting, textSetting, urlSetting } from '../lib/config.ts'
import { AppError } from '../lib/errors.ts'

export const retentionSettings = {
  url: optional(
    secretSetting(
      'SEKISHO_PRUNE_DATABASE_URL',
      'PostgreSQL by the role sekisho_prune, such as postgresql://sekisho_prune:…@db/sekisho; read by the program that cuts the audit log',
    ),
  ),
  dataFolder: optional(
    textSetting('SEKISHO_PRUNE_DATA_FOLDER', 'instead of it, the SEKISHO_DATA_FOLDER of a standalone process that is stopped'),
  ),
  publicUrl: urlSetting('SEKISHO_PUBLIC_URL', 'where people reach the broker: it signed the cut'),
}

/** Throws `invalid_configuration` that names every variable at fault. */
export function readRetentionSettings(environment: Environment) {
  const settings = readSettings(retentionSettings, environment)
  if ((settings.url === undefined) === (settings.dataFolder === undefined))
    throw new AppError(
      'invalid_configuration',
      'configuration is not usable:\n- set SEKISHO_PRUNE_DATABASE_URL (or SEKISHO_PRUNE_DATABASE_URL_FILE), or SEKISHO_PRUNE_DATA_FOLDER for the embedded database, and not both',
    )
  return settings
}
