// The settings of the authorizer. The only file below src/authorizer that names environment variables.
import { type Environment, listSetting, portSetting, readSettings, textSetting } from '../lib/config.ts'

/** Every environment variable of the authorizer. */
export const authorizerSettings = {
  host: textSetting('SEKISHO_AUTHORIZER_ADDRESS', 'the address the authorizer listens on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_AUTHORIZER_PORT', 'the port the authorizer listens on', { default: '9445' }),
  certificatePath: textSetting(
    'SEKISHO_AUTHORIZER_CERTIFICATE_PATH',
    'a PEM file with the serving certificate of the authorizer; reloaded when it changes',
    { default: '/etc/sekisho/authorizer/tls.crt' },
  ),
  privateKeyPath: textSetting('SEKISHO_AUTHORIZER_KEY_PATH', 'a PEM file with the key of that certificate', {
    default: '/etc/sekisho/authorizer/tls.key',
  }),
  clientAuthorityPath: textSetting(
    'SEKISHO_AUTHORIZER_CLIENT_CA_PATH',
    'a PEM file with the authority of the API servers’ client certificates, without one of which a connection is refused; reloaded when it changes',
    { default: '/etc/sekisho/authorizer-clients/ca.crt' },
  ),
  clientNames: listSetting(
    'SEKISHO_AUTHORIZER_CLIENT_NAMES',
    'the common names that those client certificates may have, separated by commas',
    name => name,
    { default: 'kube-apiserver' },
  ),
  accessFolder: textSetting(
    'SEKISHO_AUTHORIZER_ACCESS_PATH',
    'a folder with the files `readers` and `namespaces`, in which an administrator names who reads what is the platform’s, and where Secrets may be listed (docs/guide/authorizer.md); read again four times a second',
    { default: '/etc/sekisho/authorizer-access' },
  ),
} as const

/** Throws `invalid_configuration` that names every variable at fault. */
export function readAuthorizerSettings(environment: Environment) {
  const settings = readSettings(authorizerSettings, environment)
  const { host, port, certificatePath, privateKeyPath, clientAuthorityPath, clientNames, accessFolder } = settings
  const files = { certificatePath, privateKeyPath, clientAuthorityPath }
  return { address: { host, port }, files, clientNames, accessFolder }
}
