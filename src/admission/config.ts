// The settings of the admission webhook. The only file below src/admission that names environment variables.
import { portSetting, textSetting } from '../lib/config.ts'

/** Every environment variable of the webhook. */
export const admissionSettings = {
  host: textSetting('SEKISHO_ADMISSION_ADDRESS', 'the address the admission webhook listens on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_ADMISSION_PORT', 'the port the admission webhook listens on', { default: '9443' }),
  extraAddresses: textSetting(
    'SEKISHO_ADMISSION_EXTRA_ADDRESSES',
    'IP addresses, separated by commas, under which the API server calls the webhook besides its Service',
    { default: '127.0.0.1' },
  ),
} as const
