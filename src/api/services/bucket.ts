// Bucket: one bucket of a tenant in an object store. Applications use it by ServiceBindings.
// docs/adr/0103-buckets-are-a-kind-of-their-own.md
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, nameIsLabel, timestamp } from '../schema/fields.ts'
import { bytes } from '../schema/quantity.ts'
import { choice, flag, integer, list, object, optional, type Rule, text } from '../schema/schema.ts'
import { offerReasons } from './offer-reasons.ts'

/** RFC 7230 §3.2.6, in lower and upper case; `*` alone is every header. */
const headerName = '^([A-Za-z0-9-]{1,128}|[*])$'

/** As that of a binding, but it need not end with a slash. */
const keyPrefix = '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?$'

const reasons = defineReasons(
  {
    ready: {
      Provisioned: 'It exists on the server, and can be used.',
    },
    progress: {
      Provisioning: 'The platform is making it on the server.',
      Emptying: 'It is being deleted, and the platform deletes the objects in it first.',
    },
    machine: {
      BucketMissing:
        'The store does not have the bucket any more that this object had, for example because it was restored from an older backup. The platform makes no empty one in its place. A platform admin restores it, or the Bucket is deleted and made again.',
    },
    person: {
      BucketNotEmpty:
        'It is being deleted with `whenDeleted: Delete`, and the bucket has objects. Delete them, or set `emptyWhenDeleted` to `true`, or `whenDeleted` to `Keep`.',
      CapabilityMissing: 'The store of the ServiceClass does not have what the spec asks for. The message names the field.',
      NameNotAllowed:
        'The ServiceClass does not let Buckets choose their names (`ownNames`). Delete the Bucket and create it without `spec.name`, or ask a platform admin.',
      NameTaken:
        'The store has a bucket of that name that is not of this tenant, or another Bucket has or had it. Choose another name; without `spec.name` a platform admin removes it there.',
    },
    failed: {
      RefusedByServer: 'The server refused to make it as it is wanted. The message has what it answered.',
    },
  },
  {},
  offerReasons,
)

/** Reasons of the conditions. */
export const bucketReasons = reasons.names

/** `spec.cors`, and of a preview's own bucket. */
export const corsField = list(
  object(
    {
      origins: list(
        text({
          description: 'An origin, such as `https://shop.example.com`, with at most one `*`; `*` alone is every origin.',
          max: 256,
          pattern: '^([*]|https?://[A-Za-z0-9.:-]*[*]?[A-Za-z0-9.:-]*)$',
        }),
        { description: 'From which web pages.', min: 1, max: 16, unique: 'set' },
      ),
      methods: list(choice(['GET', 'HEAD', 'PUT', 'POST', 'DELETE'], { description: 'A method of HTTP.' }), {
        description: 'Which methods.',
        min: 1,
        max: 5,
        unique: 'set',
      }),
      headers: optional(
        list(text({ description: 'The name of a header, or `*`.', max: 128, pattern: headerName }), {
          description: 'Which headers requests may have.',
          max: 16,
          unique: 'set',
        }),
      ),
      exposedHeaders: optional(
        list(text({ description: 'The name of a header.', max: 128, pattern: headerName }), {
          description: 'Which headers of answers scripts may read, such as `ETag`.',
          max: 16,
          unique: 'set',
        }),
      ),
      maxAgeSeconds: optional(integer({ description: 'How long a browser may keep the answer.', min: 0, max: 86_400 })),
    },
    { description: 'One rule.' },
  ),
  {
    description:
      'Which web pages may use the bucket from a browser, with presigned URLs. None when omitted; what is taken out is closed. The store must have the capability.',
    max: 10,
  },
)

/** `spec.versioning`, and of a preview's own bucket. */
export const versioningField = flag({
  description:
    'Whether the store keeps former versions of objects. When omitted it stays as it is, at first off; `false` ends it for new versions. The store must have the capability.',
})

const days = (description: string) => integer({ description, min: 1, max: 3650 })

/** `spec.lifecycle`, and of a preview's own bucket. */
export const lifecycleField = list(
  object(
    {
      prefix: optional(
        text({
          description:
            'With what the names of the objects begin that the rule is about, such as `tmp/`. Every object when omitted.',
          max: 128,
          pattern: keyPrefix,
        }),
      ),
      expireAfterDays: optional(
        days(
          'After how many days an object is deleted. With versions it becomes a former version, which takes space until it is deleted, too.',
        ),
      ),
      expireFormerVersionsAfterDays: optional(
        days('After how many days a former version is deleted, counted from when it became one. Needs `versioning`.'),
      ),
      abortUploadsAfterDays: optional(
        days('After how many days an upload in parts that nobody has finished is ended, and its parts are deleted.'),
      ),
    },
    {
      description: 'One rule.',
      rules: [
        {
          rule: 'has(self.expireAfterDays) || has(self.expireFormerVersionsAfterDays) || has(self.abortUploadsAfterDays)',
          message: 'set expireAfterDays, expireFormerVersionsAfterDays or abortUploadsAfterDays',
          reason: 'FieldValueRequired',
        },
      ],
    },
  ),
  {
    description:
      'What the store deletes by age, without asking anybody, also while nothing uses the bucket and after this object was deleted with `Keep`. With it the bucket has these rules and no others; when omitted only those that administrators of the store wrote. The store must have the capability.',
    max: 10,
  },
)

/** Of an object that has `lifecycle` and `versioning`. */
export const lifecycleRule: Rule = {
  rule: '!has(self.lifecycle) || has(self.versioning) || !self.lifecycle.exists(r, has(r.expireFormerVersionsAfterDays))',
  message:
    'expireFormerVersionsAfterDays needs versioning: set it to true, or to false for former versions that the bucket kept before',
  fieldPath: '.lifecycle',
  reason: 'FieldValueInvalid',
}

export const bucket = defineKind({
  group: 'services',
  kind: 'Bucket',
  plural: 'buckets',
  shortNames: [],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description: 'A bucket of the tenant in an object store. Applications that name it in `spec.services` get a credential of it.',
  writtenBy: 'Developers and admins of the tenant.',
  spec: object(
    {
      class: text({
        description: 'The name of a ServiceClass of type `bucket`. It cannot change.',
        max: 63,
        pattern: dnsLabel,
      }),
      plan: optional(
        text({
          description: 'The name of a plan of the ServiceClass. Its default plan when omitted.',
          max: 63,
          pattern: dnsLabel,
        }),
      ),
      name: optional(
        text({
          description:
            'The name of the bucket in the store, where the ServiceClass allows it (`ownNames`). The platform gives one when omitted. It cannot change.',
          min: 3,
          max: 63,
          pattern: dnsLabel,
          rules: [
            {
              rule: "!self.matches('^([bp]|proof-)[a-z2-7]{26}$')",
              message: 'names of this form are those that the platform gives: choose another one',
              reason: 'FieldValueInvalid',
            },
          ],
        }),
      ),
      versioning: optional(versioningField),
      cors: optional(corsField),
      lifecycle: optional(lifecycleField),
      whenDeleted: choice(['Keep', 'Delete'], {
        description:
          'What happens to the bucket when this object is deleted. `Keep`: one that has objects stays in the store without a credential, and a Bucket of the same name in this namespace finds it again; an empty one is deleted. `Delete`: it is deleted, too.',
        default: 'Keep',
      }),
      emptyWhenDeleted: flag({
        description:
          'With `whenDeleted: Delete`: whether the objects in the bucket are deleted first. Otherwise a bucket that has objects is not deleted.',
        default: false,
      }),
    },
    {
      description: 'Which store, in which size.',
      rules: [
        {
          rule: 'self.class == oldSelf.class',
          message: 'class cannot change: create another Bucket',
          fieldPath: '.class',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)',
          message: 'name cannot change: create another Bucket',
          fieldPath: '.name',
          reason: 'FieldValueForbidden',
        },
        lifecycleRule,
      ],
    },
  ),
  status: {
    bucket: optional(text({ description: 'The name of the bucket in the store.', max: 63 })),
    externalId: optional(text({ description: 'What the tag of the bucket in the store says of whose it is.', max: 63 })),
    endpoint: optional(text({ description: 'The URL of the store, for clients of S3.', max: 512 })),
    region: optional(text({ description: 'The region that clients of S3 sign for.', max: 63 })),
    plan: optional(text({ description: 'The plan that the bucket has.', max: 63 })),
    end: optional(
      choice(['Kept', 'Deleted'], {
        description: 'What became of the bucket in the store, once this object is being deleted.',
      }),
    ),
    usage: optional(
      object(
        {
          storage: bytes({ description: 'How much space the objects take.', most: '1Ei' }),
          objects: integer({ description: 'How many objects there are.', min: 0, max: Number.MAX_SAFE_INTEGER }),
          partial: optional(
            flag({
              description: 'Set when there are more objects than the platform counts: the numbers are of those that it counted.',
            }),
          ),
          measuredAt: timestamp('When that was measured.'),
          overSince: optional(timestamp('Since when it takes more than its plan has. Absent while it does not.')),
        },
        { description: 'What the bucket uses.' },
      ),
    ),
  },
  conditions: {
    Provisioned: 'The bucket exists in the store.',
    WithinPlan: 'The objects take no more space than the plan has. Nothing keeps them from it.',
    Ready: 'Applications can use the bucket.',
  },
  reasons,
  rules: [nameIsLabel],
  columns: [
    { name: 'Class', type: 'string', jsonPath: '.spec.class' },
    { name: 'Bucket', type: 'string', jsonPath: '.status.bucket' },
    { name: 'Storage', type: 'string', jsonPath: '.status.usage.storage', priority: 1 },
    { name: 'Objects', type: 'integer', jsonPath: '.status.usage.objects', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
})

export type Bucket = ObjectOf<typeof bucket>
