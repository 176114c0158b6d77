// AppSecret: values that go in and never come out. A person writes `spec.values`; admission seals each value to the platform's
// public key before anything is stored, so that what the API server has, shows and keeps is ciphertext.
// docs/adr/0034-app-secrets-are-sealed-before-they-are-stored.md
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons, rightMissing } from '../reasons/reason.ts'
import { nameIsLabel, timestamp } from '../schema/fields.ts'
import { integer, list, map, object, openObject, optional, text, unexamined } from '../schema/schema.ts'

/** What one AppSecret may hold. */
export const appSecretBounds = {
  keys: 100,
  /** Of the name of an environment variable. */
  keyCharacters: 128,
  /** Of one value, as UTF-8. */
  valueBytes: 32 * 1024,
  /** Of all values. */
  totalBytes: 128 * 1024,
  /** Of a sealed value: base64url of the value, and what a JWE adds. */
  sealedCharacters: 46_000,
  /** Of all sealed values, with 100 keys. */
  totalSealedCharacters: 280_000,
} as const

/** What `spec.values` and `spec.sealed` may be called: names of environment variables. */
export const appSecretKey = `^[A-Za-z_][A-Za-z0-9_]{0,${appSecretBounds.keyCharacters - 1}}$`

/** Why a key cannot be used; undefined for one that can. The platform sets PORT and SEKISHO_… itself. */
export function appSecretKeyProblem(key: string): string | undefined {
  if (!new RegExp(appSecretKey).test(key))
    return `must be the name of an environment variable: letters, digits and _, at most ${appSecretBounds.keyCharacters}, not beginning with a digit`
  return key === 'PORT' || key.startsWith('SEKISHO_') ? 'is a name that the platform sets itself: choose another name' : undefined
}

const reasons = defineReasons(
  {
    ready: {
      Stored: 'Applications and builds get these values.',
    },
    person: {
      Unreadable:
        'A value cannot be decrypted: it was copied from another name, AppSecret or namespace, or it was encrypted for a key that the platform no longer has. Set it again. Applications keep the values that they had.',
      NameTaken:
        'The namespace has a Secret of the name that the platform needs, which it did not make. A platform admin has to delete that Secret.',
    },
    failed: {
      RefusedByCluster:
        'The API server refused the Secret that holds the values, for example because a quota is exhausted. The message names the cause.',
    },
  },
  {},
  rightMissing,
)

/** Reasons of the condition Ready. */
export const appSecretReasons = reasons.names

export const appSecret = defineKind({
  group: 'apps',
  kind: 'AppSecret',
  plural: 'appsecrets',
  shortNames: ['asecret'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description:
    'Secret values of an application, such as the URL of its database. Values only go in: names and versions can be read, values cannot. Applications get them as environment variables, builds when they are named.',
  writtenBy: 'Developers and admins of the tenant, by `sekisho secrets set` or by `kubectl`.',
  spec: openObject(
    {
      values: optional(
        unexamined({
          description:
            'The values to set, such as `DATABASE_URL: "postgres://…"`: names of environment variables, and texts of at most 32 KiB each. They are added to the values that exist. Admission moves them to `sealed`, encrypted, before anything is stored: this field never comes back.',
        }),
      ),
      sealed: map(
        text({
          description: 'The value, encrypted for this name in this AppSecret: it opens nowhere else.',
          max: appSecretBounds.sealedCharacters,
        }),
        {
          description:
            'The values that exist, encrypted so that only the platform can read them. Set one to `null` to remove it. To set a value, use `values`.',
          max: appSecretBounds.keys,
          default: {},
          rules: [
            {
              rule: `self.all(key, key.matches('${appSecretKey}') && key != 'PORT' && !key.startsWith('SEKISHO_'))`,
              message:
                'every name must be that of an environment variable, of at most 128 characters, and neither PORT nor SEKISHO_…, which the platform sets',
              reason: 'FieldValueInvalid',
            },
            {
              // Each begins with {" in base64url, as every JWE in compact form does (RFC 7516).
              rule: "self.all(key, self[key].startsWith('eyJ'))",
              message: 'a value here is not encrypted: put values into spec.values, and the platform encrypts them',
              reason: 'FieldValueInvalid',
            },
            {
              rule: `self.map(key, self[key].size()).sum() <= ${appSecretBounds.totalSealedCharacters}`,
              message: `the values are larger than ${appSecretBounds.totalBytes / 1024} KiB together: use more than one AppSecret`,
              reason: 'FieldValueInvalid',
            },
          ],
        },
      ),
    },
    {
      description: 'The values, by the names of the environment variables. Only `sealed` is stored.',
      stored: 1,
    },
  ),
  status: {
    version: optional(
      integer({
        description: 'Changes exactly when a value was set, changed or removed. Applications that use it then restart.',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
    ),
    keys: optional(
      list(
        object(
          {
            name: text({ description: 'The name of the environment variable.', max: appSecretBounds.keyCharacters }),
            version: integer({
              description: 'The `status.version` in which this value last changed.',
              min: 1,
              max: Number.MAX_SAFE_INTEGER,
            }),
            changedAt: timestamp('When this value last changed.'),
          },
          { description: 'One value that applications get.' },
        ),
        { description: 'The values that applications get, without the values.', max: appSecretBounds.keys, unique: ['name'] },
      ),
    ),
  },
  conditions: { Ready: 'Applications and builds get exactly the values of this AppSecret.' },
  reasons,
  rules: [nameIsLabel],
  columns: [{ name: 'Version', type: 'integer', jsonPath: '.status.version' }, ...readyColumns, ageColumn],
})

export type AppSecret = ObjectOf<typeof appSecret>
