// Settings of the store: where the database is, and the keys that seal its secrets. Read once by the process that opens it.
import { type Environment, optional, readSettings, secretSetting, textSetting } from '../lib/config.ts'
import { AppError } from '../lib/errors.ts'
import { SecretString } from '../lib/secret-string.ts'

const databaseUrl = secretSetting(
  'SEKISHO_DATABASE_URL',
  'PostgreSQL by the role of this process, such as postgresql://sekisho_broker:…@db/sekisho; needed by broker and controllers, while the standalone process has an embedded database without it',
)
const auditDatabaseUrl = secretSetting(
  'SEKISHO_AUDIT_DATABASE_URL',
  'the same database by the role that can only INSERT and SELECT the audit log, such as postgresql://sekisho_audit:…@db/sekisho; needed by broker and controllers',
)
const sealingKeys = secretSetting(
  'SEKISHO_SEALING_KEYS',
  'keys of 32 bytes in base64, separated by commas: the first seals, all open (openssl rand -base64 32); broker and controllers have different ones',
)

/** Every environment variable of the store. */
export const storeSettings = {
  databaseUrl: optional(databaseUrl),
  auditDatabaseUrl: optional(auditDatabaseUrl),
  dataFolder: textSetting('SEKISHO_DATA_FOLDER', 'folder of the embedded database', { default: '/var/lib/sekisho' }),
  sealingKeys,
}

/** Reads what `openStore` needs. Throws `invalid_configuration` that names the variable and the cure. */
export function readStoreSettings(environment: Environment) {
  const settings = readSettings(storeSettings, environment)
  const { databaseUrl: url, auditDatabaseUrl: auditUrl, dataFolder } = settings
  const audit = auditUrl === undefined ? {} : { auditUrl }
  const location = url === undefined ? { dataFolder: `${dataFolder}/database` } : { url, ...audit }
  return { location, sealingKeys: keyring(settings.sealingKeys) }
}

/**
 * Reads what `openBrokerStore` and `openControllersStore` need: a process that runs alone has no embedded database. Throws as
 * `readStoreSettings`.
 */
export function readServerStoreSettings(environment: Environment) {
  const settings = readSettings({ databaseUrl, auditDatabaseUrl, sealingKeys }, environment)
  const { databaseUrl: url, auditDatabaseUrl: auditUrl } = settings
  return { location: { url, auditUrl }, sealingKeys: keyring(settings.sealingKeys) }
}

function keyring(text: SecretString): readonly SecretString[] {
  const keys = text
    .reveal()
    .split(',')
    .map(key => new SecretString(key.trim()))
  const wrong = keys.findIndex(key => Buffer.from(key.reveal(), 'base64').length !== 32)
  if (wrong === -1) return keys
  throw new AppError(
    'invalid_configuration',
    `configuration is not usable:\n- SEKISHO_SEALING_KEYS must hold keys of 32 bytes in base64 (key ${wrong + 1} does not): openssl rand -base64 32`,
  )
}
