// Which services an Application uses: each entry gets a ServiceBinding of its own, whose credential its pods have as variables
// and files. Data and pure functions.
import { hashedName } from '../../lib/text/bounded-name.ts'
import { appSecretKey } from '../apps/app-secret.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, objectName } from '../schema/fields.ts'
import { choice, exactlyOneOf, flag, list, map, object, optional, text } from '../schema/schema.ts'
import { bindingAuthorityKey, bindingPrefixKey, bindingSecretKeys, bucketSecretKeys, maxBindingName } from './binding-secret.ts'
import { accessField, type BindingAccess, type BoundKind, prefixField } from './service-binding.ts'

/** Of the name of an entry: with a prefix the name of a volume. */
const maxName = 40

/** The variables that an entry without `env` sets: of a database, and of a bucket, where the AWS SDKs and its CLI find them. */
export const defaultServiceEnvironment = {
  ServiceInstance: { DATABASE_URL: 'uri' },
  Bucket: {
    AWS_ACCESS_KEY_ID: 'access-key-id',
    AWS_SECRET_ACCESS_KEY: 'secret-access-key',
    AWS_REGION: 'region',
    AWS_ENDPOINT_URL_S3: 'endpoint',
    BUCKET_NAME: 'bucket',
  },
} as const

/** Beside those of a bucket, of an entry with a prefix. */
const prefixVariable = 'BUCKET_PREFIX'

const commonKeys = [...new Set([...bindingSecretKeys, ...bucketSecretKeys, bindingPrefixKey, bindingAuthorityKey])]
const listed = (keys: readonly string[]): string => `[${keys.map(key => `'${key}'`).join(', ')}]`
const databaseKeys = listed([...bindingSecretKeys, bindingAuthorityKey])
const bucketKeys = listed([...bucketSecretKeys, bindingPrefixKey, bindingAuthorityKey])

/** Where pods find the files, as servicebinding.io has it; `spec.env` may set the variable to another folder. */
export const bindingFiles = {
  variable: 'SERVICE_BINDING_ROOT',
  folder: '/bindings',
  /** Volumes whose names begin with this are the platform's. */
  volumePrefix: 'sekisho-binding-',
} as const

/** `spec.services`. */
export const servicesField = list(
  object(
    {
      name: text({
        description: 'The name of the entry, such as `db`: of the folder of its files, too.',
        max: maxName,
        pattern: dnsLabel,
      }),
      instance: optional(objectName('The name of a ServiceInstance in this namespace. Set `instance` or `bucket`.')),
      bucket: optional(objectName('The name of a Bucket in this namespace. Set `instance` or `bucket`.')),
      access: accessField,
      prefix: optional(prefixField),
      env: optional(
        map(
          choice(commonKeys as [string, ...string[]], {
            description:
              'A key of the credential, such as `uri`, `host`, `username` or `password` of a database, and `bucket`, `endpoint`, `access-key-id` or `secret-access-key` of a bucket.',
          }),
          {
            description:
              'The environment variables that every process gets, and the key of the credential that each has, such as `PGHOST: host`. When omitted: `DATABASE_URL: uri` of a database; of a bucket AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL_S3 and BUCKET_NAME, and with a prefix BUCKET_PREFIX. An empty object: none.',
            max: 16,
            rules: [
              {
                rule: `self.all(key, key.size() <= 128 && key.matches('${appSecretKey}') && key != 'PORT' && !key.startsWith('SEKISHO_'))`,
                message:
                  'every name must be that of an environment variable, of at most 128 characters, and neither PORT nor SEKISHO_…, which the platform sets',
                reason: 'FieldValueInvalid',
              },
            ],
          },
        ),
      ),
      files: optional(
        flag({
          description:
            'Set it to `true` to have each key of the credential as a file in `$SERVICE_BINDING_ROOT/<name>`, as servicebinding.io says. The platform sets the variable to `/bindings`, unless `env` of the Application sets it to another folder.',
        }),
      ),
    },
    {
      description: 'One service that the Application uses.',
      rules: [
        {
          rule: '!has(self.env) || self.env.size() > 0 || (has(self.files) && self.files)',
          message: 'env is empty and files is not true, so that no process would get the credential: set one of them',
          reason: 'FieldValueInvalid',
        },
        exactlyOneOf(['instance', 'bucket'], 'set exactly one of instance and bucket'),
        {
          rule: "has(self.bucket) || (self.access != 'WriteOnly' && !has(self.prefix))",
          message: 'WriteOnly and prefix are for buckets',
          reason: 'FieldValueInvalid',
        },
        {
          rule: `!has(self.env) || self.env.all(key, self.env[key] in (has(self.bucket) ? ${bucketKeys} : ${databaseKeys}))`,
          message: 'env names a key that credentials of this kind of service do not have: databases have no keys of buckets',
          reason: 'FieldValueInvalid',
        },
        {
          rule: "!has(self.env) || has(self.prefix) || self.env.all(key, self.env[key] != 'prefix')",
          message: 'env names the key prefix, which the credential has only when prefix is set',
          reason: 'FieldValueInvalid',
        },
      ],
    },
  ),
  {
    description:
      'Databases and buckets that the Application uses. The platform makes a credential for each entry, gives it to every process, to release jobs and to `sekisho run`, and replaces it by age; nobody can read it by the Kubernetes API. Each other credential makes a release, which replaces the pods.',
    max: 16,
    unique: ['name'],
  },
)

/** One entry, as it is read from the API server. */
export type ServiceUse = {
  readonly name: string
  /** Exactly one of these two is set. */
  readonly instance?: string
  readonly bucket?: string
  readonly access: BindingAccess
  readonly prefix?: string
  readonly env?: Readonly<Record<string, string>>
  readonly files?: boolean
}

/** What an entry names. */
export function serviceOf({ instance, bucket }: Pick<ServiceUse, 'instance' | 'bucket'>): {
  readonly kind: BoundKind
  readonly name: string
} {
  return bucket === undefined ? { kind: 'ServiceInstance', name: instance ?? '' } : { kind: 'Bucket', name: bucket }
}

/** The variables of an entry, and the key of the credential that each has. */
export function serviceEnvironment(
  use: Pick<ServiceUse, 'env' | 'instance' | 'bucket' | 'prefix'>,
): Readonly<Record<string, string>> {
  if (use.env !== undefined) return use.env
  const own = defaultServiceEnvironment[serviceOf(use).kind]
  return use.prefix === undefined ? own : { ...own, [prefixVariable]: bindingPrefixKey }
}

/** A variable that two of them set; one would be lost. `by` and `and`: the name of an entry, or undefined for `spec.env`. */
export type DoubleVariable = {
  readonly variable: string
  /** Of the Secret, from which `by` has it. */
  readonly key: string
  readonly by: string
  readonly and: string | undefined
}

/** The first variable that two entries, or an entry and `spec.env`, set. */
export function doubleVariable(
  env: readonly { readonly name: string }[],
  uses: readonly ServiceUse[],
): DoubleVariable | undefined {
  const setBy = new Map<string, string | undefined>(env.map(({ name }) => [name, undefined]))
  for (const use of uses)
    for (const [variable, key] of Object.entries(serviceEnvironment(use))) {
      if (setBy.has(variable)) return { variable, key, by: use.name, and: setBy.get(variable) }
      setBy.set(variable, use.name)
    }
  return undefined
}

/**
 * The name of the ServiceBinding of an entry. A binding never changes what it is for, so another instance or access has another
 * name: the credential of the pods that still run stays until they are gone.
 */
export function ownedBindingName(application: string, { name, instance, bucket, access, prefix = '' }: ServiceUse): string {
  // No name of an object has a capital letter: those of the two kinds differ.
  const service = bucket === undefined ? [instance, access] : ['Bucket', bucket, access, prefix]
  const of = [application, name, ...service].join('/')
  return hashedName(`${application}-${name}`, maxBindingName, { of, length: 8 })
}

/** Of the conditions of Applications. */
export const serviceReasons = defineReasons({
  progress: {
    WaitingForService:
      'A service in `services` has no credential for the Application yet. The message names it, and how far it is. The earlier version keeps serving.',
  },
  person: {
    ServiceNotFound:
      'There is no ServiceInstance or Bucket of a name in `services`. Create it, or correct the name. The earlier version keeps serving.',
    ServiceNotUsable:
      'A ServiceInstance or Bucket in `services`, or its ServiceBinding, cannot go on by itself. The message has its reason and what to do. The earlier version keeps serving.',
    ServiceNotForIsolated:
      'The Application is isolated, and the ServiceClass of a service in `services` is not offered to code that is not trusted. Remove the entry, or ask a platform admin.',
  },
  failed: {
    InvalidServices:
      'The entries of `services` do not fit together, or to the rest of the spec: two set the same variable, for example. The message says what to change.',
  },
})
