// The files of the certificate with which API servers are answered: by admission, and by the controllers where they record who
// changes access. Settings only.
import { listSetting, optional, textSetting } from '../lib/config.ts'

export const webhookSettings = {
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
} as const
