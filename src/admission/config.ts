// The settings of the admission webhook. The only file below src/admission that names environment variables.
import { isIP } from 'node:net'
import { listSetting, portSetting, textSetting } from '../lib/config.ts'

function address(item: string): string {
  if (isIP(item) !== 0) return item
  throw new Error(`must consist of IP addresses, not ${item}`)
}

/** Every environment variable of the webhook. */
export const admissionSettings = {
  host: textSetting('SEKISHO_ADMISSION_ADDRESS', 'the address the admission webhook listens on', { default: '0.0.0.0' }),
  port: portSetting('SEKISHO_ADMISSION_PORT', 'the port the admission webhook listens on', { default: '9443' }),
  extraAddresses: listSetting(
    'SEKISHO_ADMISSION_EXTRA_ADDRESSES',
    'IP addresses under which the API server calls the webhook besides its Service',
    address,
    { default: '127.0.0.1' },
  ),
} as const
