// The settings of the admission webhook. The only file below src/admission that names environment variables.
import { type Environment, listSetting, optional, portSetting, readSettings, textSetting } from '../lib/config.ts'

/** Every environment variable of the webhook. */
export const admissionSettings = {
  host: textSetting('SEKISHO_ADMISSION_ADDRESS', 'the address the admission webhook listens on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_ADMISSION_PORT', 'the port the admission webhook listens on', { default: '9443' }),
  certificatePath: textSetting(
    'SEKISHO_ADMISSION_CERTIFICATE_PATH',
    'a PEM file with the serving certificate of the admission webhook; reloaded when it changes',
    { default: '/etc/sekisho/admission/tls.crt' },
  ),
  privateKeyPath: textSetting('SEKISHO_ADMISSION_KEY_PATH', 'a PEM file with the key of that certificate', {
    default: '/etc/sekisho/admission/tls.key',
  }),
  clientAuthorityPath: optional(
    textSetting(
      'SEKISHO_ADMISSION_CLIENT_CA_PATH',
      'a PEM file with the authority of the API servers’ client certificates; with it a connection without such a certificate is refused; reloaded when it changes',
    ),
  ),
  clientNames: listSetting(
    'SEKISHO_ADMISSION_CLIENT_NAMES',
    'the common names that those client certificates may have, separated by commas',
    name => name,
    { default: 'kube-apiserver' },
  ),
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
