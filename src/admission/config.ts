// The settings of the admission webhook. The only file below src/admission that names environment variables.
import { type Environment, portSetting, readSettings, textSetting } from '../lib/config.ts'
import { webhookSettings } from '../web/webhook-settings.ts'

/** Every environment variable of the webhook. */
export const admissionSettings = {
  host: textSetting('SEKISHO_ADMISSION_ADDRESS', 'the address the admission webhook listens on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_ADMISSION_PORT', 'the port the admission webhook listens on', { default: '9443' }),
  ...webhookSettings,
  appSecretsKeyPath: textSetting(
    'SEKISHO_APP_SECRETS_KEY_PATH',
    'a file with the public key to which values of AppSecrets are sealed: the field key.json of the ConfigMap sekisho-app-secrets-key, which the controllers write; read again when it changes, and AppSecrets with values are refused until it exists (not used by the standalone process)',
    { default: '/etc/sekisho/app-secrets/key.json' },
  ),
} as const

/** Throws `invalid_configuration` that names every variable at fault. */
export function readAdmissionSettings(environment: Environment) {
  const settings = readSettings(admissionSettings, environment)
  const { host, port, certificatePath, privateKeyPath, clientAuthorityPath, clientNames, appSecretsKeyPath } = settings
  const files = { certificatePath, privateKeyPath, clientAuthorityPath }
  return { address: { host, port }, files, clientNames, appSecretsKeyPath }
}
