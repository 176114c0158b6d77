// ServiceClass: a service that administrators offer to tenants: databases on a shared PostgreSQL server, or buckets of an object
// store. It holds no credential: those of the server are in Secrets of a namespace that only the process data-services reads.
// docs/adr/0100-services-are-classes-instances-and-bindings.md
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, nameIsLabel } from '../schema/fields.ts'
import { bytes } from '../schema/quantity.ts'
import { choiceOfThisVersion, exactlyOneOf, flag, integer, list, map, object, optional, text } from '../schema/schema.ts'
import { postgresqlField, s3Field } from './class-providers.ts'
import { databaseExtensionField } from './extensions.ts'

const reasons = defineReasons({
  ready: {
    Answering: 'The server answered, and the account of the platform has the rights that it needs.',
  },
  progress: {
    NotTried: 'The platform has not asked the server yet.',
  },
  machine: {
    ServerUnreachable:
      'The server does not answer, or its certificate is not accepted. The message has the cause. The platform tries again.',
  },
  person: {
    ClassInUse:
      'It is being deleted, and ServiceInstances or Buckets still have it. The message says how many. The server is kept reachable for them.',
    AdminSecretMissing:
      'The namespace `sekisho-data` has no Secret of the name in `provider`, or it lacks a key. The message says which. A platform admin creates it.',
    LoginRefused:
      'The server refuses the account in the Secret: its user name, password or key. A platform admin corrects the Secret.',
    RightsInsufficient:
      'The account in the Secret lacks a right on the server that the platform needs. The message names it. A platform admin grants it there.',
    ServerUnsuitable:
      'The server cannot be shared: a PostgreSQL older than 15, one that lacks updates without which a tenant can get further (15.9, 16.5 and 17.1 have them), or one that accepts no writes. The message says which. A platform admin updates the server, or names another one.',
    ServerTooOpen:
      'Every login of the server may enter a database of its own, such as `postgres`, and the platform could not close it. The message says what a platform admin does there.',
  },
})

/** Of each credential of a plan that says nothing of it. */
export const defaultConnections = 20

/** Reasons of the conditions. */
export const serviceClassReasons = reasons.names

const planField = object(
  {
    name: text({
      description: 'The name of the plan, which `spec.plan` of a ServiceInstance or Bucket names.',
      max: 63,
      pattern: dnsLabel,
    }),
    description: optional(text({ description: 'What the plan is for, for people.', max: 256 })),
    default: optional(flag({ description: 'Whether instances without `spec.plan` have this plan. One plan at most.' })),
    limits: object(
      {
        connections: optional(
          integer({
            description: `Of type \`postgresql\`: how many connections each credential may have at once. ${defaultConnections} when omitted.`,
            min: 1,
            max: 500,
          }),
        ),
        storage: bytes({
          description: 'How much space one instance or bucket may take on the server, such as `1Gi`.',
          most: '100Ti',
        }),
      },
      { description: 'What one instance or bucket may use.' },
    ),
  },
  { description: 'One size in which the service is offered.' },
)

const reachField = object(
  {
    cidrs: list(
      text({
        description: 'A range of addresses, such as `10.0.7.0/24`, or `10.0.7.12/32` for one address.',
        max: 49,
        rules: [
          {
            rule: 'isCIDR(self) && cidr(self).masked() == cidr(self)',
            message: 'must be a range such as 10.0.7.0/24 or fd00:7::/64, which begins with its first address',
            reason: 'FieldValueInvalid',
          },
          {
            rule: "!self.endsWith('/0')",
            message: 'must not be every address: name those of the server',
            reason: 'FieldValueInvalid',
          },
        ],
      }),
      { description: 'The addresses of the server.', min: 1, max: 8, unique: 'set' },
    ),
  },
  {
    description:
      'What the network policies of the platform open to pods that use the service, and only to those: these addresses, at the port of the server.',
  },
)

const credentialsField = object(
  {
    maxAgeDays: integer({
      description: 'After how many days a credential is replaced by another one.',
      min: 1,
      max: 365,
      default: 30,
    }),
    overlapMinutes: integer({
      description:
        'How many minutes a replaced credential goes on working, for pods that still have it. Then it ends, with the sessions that use it.',
      min: 5,
      max: 10_080,
      default: 60,
    }),
  },
  { description: 'How long credentials live.', default: {} },
)

export const serviceClass = defineKind({
  group: 'services',
  kind: 'ServiceClass',
  plural: 'serviceclasses',
  shortNames: ['svcclass'],
  scope: 'Cluster',
  adminAccess: 'write',
  description:
    'A service that tenants can have, such as a PostgreSQL database on a shared server or a bucket of an object store: where it is, in which plans, and for whom.',
  writtenBy: 'Platform admins.',
  spec: object(
    {
      type: choiceOfThisVersion(['postgresql', 'bucket'], {
        description:
          'What it offers: `postgresql`, databases (ServiceInstances), or `bucket`, buckets of an object store (Buckets). It cannot change.',
      }),
      description: optional(text({ description: 'What the service is for, for people who choose one.', max: 256 })),
      provider: object(
        { postgresql: optional(postgresqlField), s3: optional(s3Field) },
        {
          description:
            'Where instances and buckets are made. Exactly one member must be set, the one of `type`: `postgresql`, or `s3` for `bucket`.',
          rules: [exactlyOneOf(['postgresql', 's3'], 'set exactly one member, the one that type names')],
        },
      ),
      plans: list(planField, {
        description: 'The plans.',
        min: 1,
        max: 16,
        unique: ['name'],
        rules: [
          {
            rule: 'self.filter(p, has(p.default) && p.default).size() <= 1',
            message: 'at most one plan can be the default',
            reason: 'FieldValueInvalid',
          },
        ],
      }),
      tenants: optional(
        object(
          {
            matchLabels: map(text({ description: 'The value of the label.', min: 0, max: 63 }), {
              description: 'Labels of Tenants and their values. A Tenant must have all of them.',
              max: 8,
            }),
          },
          { description: 'Which Tenants may have instances or buckets. All when omitted.' },
        ),
      ),
      reach: reachField,
      allowIsolated: flag({
        description:
          'Whether isolated Applications may use the service. Their code is not trusted: it can do what the credential can, and tries the server.',
        default: false,
      }),
      ownNames: flag({
        description:
          'Of type `bucket`: whether Buckets may choose their names in the store (`spec.name`). A tenant then sees which names others have.',
        default: false,
      }),
      extensions: optional(
        list(databaseExtensionField, {
          description:
            'Of type `postgresql`: the extensions that instances may ask for. None when omitted. All of the list can be created without rights on the server.',
          max: 32,
          unique: 'set',
        }),
      ),
      credentials: credentialsField,
    },
    {
      description: 'The service, and who may use how much of it.',
      rules: [
        {
          rule: 'self.type == oldSelf.type',
          message: 'type cannot change: create another ServiceClass',
          fieldPath: '.type',
          reason: 'FieldValueForbidden',
        },
        {
          rule: "has(self.provider.s3) == (self.type == 'bucket')",
          message: 'set the member that type names: postgresql, or s3 for type bucket',
          fieldPath: '.provider',
          reason: 'FieldValueInvalid',
        },
        {
          rule: "self.type == 'postgresql' || (!has(self.extensions) && self.plans.all(p, !has(p.limits.connections)))",
          message: 'extensions and limits.connections belong to type postgresql',
          reason: 'FieldValueInvalid',
        },
        {
          rule: "self.type == 'bucket' || !self.ownNames",
          message: 'ownNames belongs to type bucket',
          fieldPath: '.ownNames',
          reason: 'FieldValueInvalid',
        },
      ],
    },
  ),
  status: {
    version: optional(text({ description: 'The version of the server, as it says it itself, such as `15.18`.', max: 64 })),
    capabilities: optional(
      object(
        {
          versioning: flag({ description: 'Whether it keeps former versions of objects.' }),
          cors: flag({ description: 'Whether it answers browsers (`spec.cors` of a Bucket).' }),
          lifecycle: flag({ description: 'Whether it deletes objects by age (`spec.lifecycle` of a Bucket).' }),
        },
        { description: 'Of type `bucket`: what the store has, as the platform tried it.' },
      ),
    ),
  },
  conditions: {
    Reachable: 'The server answered the platform when it last asked.',
    Ready: 'Instances or buckets can be made and credentials issued.',
  },
  reasons,
  rules: [nameIsLabel],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    ...readyColumns,
    ageColumn,
  ],
})

export type ServiceClass = ObjectOf<typeof serviceClass>
