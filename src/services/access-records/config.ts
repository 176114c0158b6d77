// The settings of the access records.
import { portSetting } from '../../lib/config.ts'
import { webhookSettings } from '../../web/webhook-settings.ts'

export const accessRecordsSettings = {
  accessRecordsPort: portSetting(
    'SEKISHO_ACCESS_RECORDS_PORT',
    'the port on which API servers say who changes access; it serves where the certificate of the admission webhook is',
    { default: '9444' },
  ),
  webhookCertificatePath: webhookSettings.certificatePath,
  webhookKeyPath: webhookSettings.privateKeyPath,
  webhookClientAuthorityPath: webhookSettings.clientAuthorityPath,
  webhookClientNames: webhookSettings.clientNames,
} as const

export type AccessRecordsSettings = {
  readonly accessRecordsPort: number
  readonly webhookCertificatePath: string
  readonly webhookKeyPath: string
  readonly webhookClientAuthorityPath: string | undefined
  readonly webhookClientNames: readonly string[]
}
