// Settings of the store: where the database is, and the keys that seal its secrets. Read once by the process that opens it.
import { type Environment, optional, readSettings, secretSetting, textSetting } from '../lib/config.ts'
import { AppError } from '../lib/errors.ts'
import { SecretString } from '../lib/secret-string.ts'

/** Every environment variable of the store. */
export const storeSettings = {
  databaseUrl: optional(
    secretSetting(
      'SEKISHO_DATABASE_URL',
      'PostgreSQL, such as postgresql://sekisho@db/sekisho; the embedded database if not set',
    ),
  ),
  auditDatabaseUrl: optional(
    secretSetting('SEKISHO_AUDIT_DATABASE_URL', 'the same database as the role that can only INSERT and SELECT the audit log'),
  ),
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'folder of the embedded database', { default: '/var/lib/sekisho' }),
  sealingKeys: secretSetting(
    'SEKISHO_SEALING_KEYS',
    'keys of 32 bytes in base64, separated by commas: the first seals, all open (openssl rand -base64 32)',
  ),
}

/** Reads what `openStore` needs. Throws `invalid_configuration` that names the variable and the cure. */
export function readStoreSettings(environment: Environment) {
  const { databaseUrl, auditDatabaseUrl, dataFolder, sealingKeys } = readSettings(storeSettings, environment)
  const keys = sealingKeys
    .reveal()
    .split(',')
    .map(key => new SecretString(key.trim()))
  const wrong = keys.findIndex(key => Buffer.from(key.reveal(), 'base64').length !== 32)
  if (wrong !== -1)
    throw new AppError(
      'invalid_configuration',
      `configuration is not usable:\n- SEKISHO_SEALING_KEYS must hold keys of 32 bytes in base64 (key ${wrong + 1} does not): openssl rand -base64 32`,
    )
  const audit = auditDatabaseUrl === undefined ? {} : { auditUrl: auditDatabaseUrl }
  const location = databaseUrl === undefined ? { dataFolder: `${dataFolder}/database` } : { url: databaseUrl, ...audit }
  return { location, sealingKeys: keys }
}
