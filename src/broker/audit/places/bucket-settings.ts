// The bucket for signed checkpoints of the audit log, as settings: all of them or none.
import { readFileSync } from 'node:fs'
import { optional, type SettingsOf, secretSetting, textSetting, urlSetting } from '../../../lib/config.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import type { Bucket } from '../../../object-store/kept-objects.ts'

const variable = 'SEKISHO_AUDIT_CHECKPOINT_BUCKET'
const plainPrefix = /^(?!\/)[\w./-]{1,200}$/

function prefixSetting(name: string, description: string) {
  const plain = textSetting(name, description, { default: 'sekisho-audit/' })
  const parse = (text: string): string => {
    if (plainPrefix.test(text)) return text
    throw new Error('must have only letters, digits and . _ - /, and not begin with /')
  }
  return { ...plain, parse }
}

export const bucketSettings = {
  checkpointBucket: optional(
    textSetting(
      variable,
      'the name of a bucket for signed heads of the audit log, beside the ConfigMap: of another administrator than that of the database',
    ),
  ),
  checkpointBucketEndpoint: optional(
    urlSetting(`${variable}_ENDPOINT`, 'the https address of its store, such as https://s3.eu-central-1.amazonaws.com'),
  ),
  checkpointBucketRegion: textSetting(`${variable}_REGION`, 'the region for which requests are signed', { default: 'us-east-1' }),
  checkpointBucketPrefix: prefixSetting(`${variable}_PREFIX`, 'what the names of all objects begin with'),
  checkpointBucketKeyId: optional(
    textSetting(`${variable}_ACCESS_KEY_ID`, 'the id of a key that may write and read objects there'),
  ),
  checkpointBucketKey: optional(secretSetting(`${variable}_SECRET_ACCESS_KEY`, 'that key')),
  checkpointBucketAuthority: optional(
    textSetting(`${variable}_CA_PATH`, 'a PEM file with the authority of the store, when the system does not trust it'),
  ),
}

export type CheckpointBucketPlace = Bucket & { readonly prefix: string }

/** Undefined where none is named. Throws `invalid_configuration` for one that is named and cannot be used. */
export function bucketOf(settings: SettingsOf<typeof bucketSettings>): CheckpointBucketPlace | undefined {
  const { checkpointBucket: bucket, checkpointBucketEndpoint: endpoint } = settings
  const { checkpointBucketKeyId: accessKeyId, checkpointBucketKey: secretAccessKey } = settings
  if (bucket === undefined) return undefined
  if (endpoint === undefined) throw unusable(`${variable}_ENDPOINT is not set`)
  if (endpoint.protocol !== 'https:') throw unusable(`${variable}_ENDPOINT must be an https URL`)
  if (accessKeyId === undefined) throw unusable(`${variable}_ACCESS_KEY_ID is not set`)
  if (secretAccessKey === undefined) throw unusable(`${variable}_SECRET_ACCESS_KEY is not set`)
  const { checkpointBucketRegion: region, checkpointBucketPrefix: prefix, checkpointBucketAuthority: path } = settings
  const ca = path === undefined ? undefined : authorityIn(path)
  return { bucket, endpoint, region, prefix, key: { accessKeyId, secretAccessKey }, ca }
}

function authorityIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusable(`${variable}_CA_PATH cannot be read: ${messageOf(error)}`)
  }
}

function unusable(problem: string): AppError {
  return new AppError('invalid_configuration', `configuration is not usable:\n- ${problem}, and ${variable} is`)
}
