// ServiceBinding: one credential of a database or bucket, for one Application or for what a person runs. The credential is in
// the Secret that `status.binding` names; nobody reads it by the Kubernetes API.
// docs/adr/0100-services-are-classes-instances-and-bindings.md
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, objectName, timestamp } from '../schema/fields.ts'
import { choice, choiceOfThisVersion, integer, list, object, optional, text } from '../schema/schema.ts'
import { maxBindingName } from './binding-secret.ts'

/** What a credential may do. */
export const bindingAccesses = ['ReadWrite', 'ReadOnly', 'WriteOnly'] as const
export type BindingAccess = (typeof bindingAccesses)[number]

/** Why the platform ended a credential out of turn. */
export const endCauses = ['LockTableFilled'] as const
export type EndCause = (typeof endCauses)[number]

/** The kinds of services that have credentials. */
export const boundKinds = ['ServiceInstance', 'Bucket'] as const
export type BoundKind = (typeof boundKinds)[number]

const accessText =
  'What the credential can do. Of a database: `ReadWrite`, read and change data, and create and change tables; `ReadOnly`, read. Of a bucket: `ReadWrite`, read, write, list and delete objects; `ReadOnly`, read and list; `WriteOnly`, write.'

/** Such as `pictures/`: each part begins with none of the dots that paths give a meaning to. */
export const prefixField = text({
  description:
    'Of a bucket: with which prefix the names of objects begin that the credential can reach, such as `pictures/`. The whole bucket when omitted.',
  max: 128,
  pattern: '^([A-Za-z0-9_-][A-Za-z0-9_.-]*/)+$',
})

export const accessField = choice(bindingAccesses, { description: accessText, default: 'ReadWrite' })

const reasons = defineReasons({
  ready: {
    Delivered: 'The Secret holds a credential that the platform has tried.',
  },
  progress: {
    Issuing: 'The platform is making a credential on the server.',
    InstanceNotReady:
      'The ServiceInstance is not ready. The message has its reason. A credential that was delivered goes on, and is replaced by age while the database is there.',
    BucketNotReady:
      'The Bucket is not ready. The message has its reason. A credential that was delivered goes on, and is replaced by age while the bucket is there.',
  },
  machine: {
    ServerUnreachable: 'The server does not answer. The message has the cause. The platform tries again.',
    LockTableFilled:
      'The platform closed the credential, because its sessions had taken most locks of the server, so that nobody else could log in. The message says when another one is made: at once, or after ten minutes when it happened before within an hour. Take fewer locks at a time.',
  },
  person: {
    InstanceNotFound: 'There is no ServiceInstance of the name in `spec.service`. The message says what to do.',
    BucketNotFound: 'There is no Bucket of the name in `spec.service`. The message says what to do.',
    NameTaken:
      'The namespace has a Secret of the name that the platform needs, which it did not make. A platform admin has to delete that Secret.',
    WiderThanAsked:
      'A credential could do more on the server than it must, for example enter the database or read the bucket of another tenant. It was revoked and never delivered. A platform admin corrects the server; the message says what was possible.',
    NarrowerThanAsked:
      'A credential could not do on the server what it must. It was revoked. The message says what was refused; a platform admin looks at the server.',
  },
  failed: {
    NoTenant: 'The namespace is not the one in which a tenant works.',
    RefusedByServer: 'The server refused to make the credential. The message has what it answered.',
    RefusedByCluster:
      'The API server refused the Secret that holds the credential, for example because a quota is exhausted. The message names the cause.',
  },
})

/** Reasons of the conditions. */
export const serviceBindingReasons = reasons.names

export const serviceBinding = defineKind({
  group: 'services',
  kind: 'ServiceBinding',
  plural: 'servicebindings',
  shortNames: ['svcb'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description:
    'One credential of a ServiceInstance or Bucket. The platform makes it, tries it, delivers it in a Secret to pods, and replaces it by age.',
  writtenBy: 'The platform, for an Application with `spec.services`; developers and admins of the tenant, for pods of their own.',
  spec: object(
    {
      service: object(
        {
          kind: choiceOfThisVersion(boundKinds, { description: 'The kind of the service: `ServiceInstance` or `Bucket`.' }),
          name: objectName('The name of the service in the same namespace.'),
        },
        { description: 'Of which service. It cannot change.' },
      ),
      access: accessField,
      prefix: optional(prefixField),
      rotate: optional(
        timestamp(
          'Set it to the present time to have the credential replaced: one that was issued before this time is. The former one goes on working for the overlap of the ServiceClass.',
        ),
      ),
    },
    {
      description: 'Of which service, and what the credential can do.',
      rules: [
        {
          rule: 'self.service == oldSelf.service',
          message: 'service cannot change: create another ServiceBinding',
          fieldPath: '.service',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'self.access == oldSelf.access',
          message: 'access cannot change: create another ServiceBinding',
          fieldPath: '.access',
          reason: 'FieldValueForbidden',
        },
        {
          rule: 'has(self.prefix) == has(oldSelf.prefix) && (!has(self.prefix) || self.prefix == oldSelf.prefix)',
          message: 'prefix cannot change: create another ServiceBinding',
          fieldPath: '.prefix',
          reason: 'FieldValueForbidden',
        },
        {
          rule: "self.service.kind == 'Bucket' || (self.access != 'WriteOnly' && !has(self.prefix))",
          message: 'WriteOnly and prefix are for buckets',
          reason: 'FieldValueInvalid',
        },
      ],
    },
  ),
  status: {
    binding: optional(
      object(
        { name: text({ description: 'The name of the Secret in the same namespace.', max: 253 }) },
        {
          description: 'The Secret with the credential, where servicebinding.io has it. Present when a credential was delivered.',
        },
      ),
    ),
    version: optional(
      integer({
        description:
          'Changes exactly when another credential was delivered: one more each time. Applications that use it then restart.',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
    ),
    principal: optional(text({ description: 'The name of the credential on the server, such as that of the login.', max: 63 })),
    slots: optional(
      list(
        object(
          {
            slot: choice(['a', 'b'], { description: 'Which of the two.' }),
            state: choice(['Making', 'Delivered', 'Draining', 'Closed'], {
              description:
                '`Making`: it is made on the server, and tried. `Delivered`: the Secret holds it. `Draining`: it was replaced, and ends at `until`. `Closed`: the platform closed it, and ends it next.',
            }),
            issuedAt: timestamp('When the platform began to make it.'),
            until: optional(timestamp('For `Draining`: when it ends.')),
          },
          { description: 'One credential on the server.' },
        ),
        { description: 'The credentials that may exist on the server, two at most.', max: 2, unique: ['slot'] },
      ),
    ),
    ended: optional(
      list(
        object(
          {
            slot: choice(['a', 'b'], { description: 'Which of the two it was.' }),
            issuedAt: timestamp('When the platform began to make it.'),
            endedAt: timestamp('When it ended on the server.'),
            cause: optional(
              choice(endCauses, {
                description:
                  '`LockTableFilled`: the platform closed it, because its sessions had taken most locks of the server. Absent for one that ended as it should.',
              }),
            ),
          },
          { description: 'One credential that was delivered, and has ended.' },
        ),
        { description: 'The last ones that ended, newest first. The audit log has all of them.', max: 8 },
      ),
    ),
  },
  conditions: {
    Issued: 'The server has the credential.',
    Proven: 'The platform tried that the credential can do what it must, and nothing that it must not.',
    Ready: 'The Secret holds a credential that works.',
  },
  reasons,
  rules: [
    {
      rule: `self.metadata.name.size() <= ${maxBindingName} && self.metadata.name.matches('${dnsLabel}')`,
      message: `metadata.name must be a DNS label of at most ${maxBindingName} characters: it becomes a part of the name of a Secret`,
    },
  ],
  columns: [
    { name: 'Service', type: 'string', jsonPath: '.spec.service.name' },
    { name: 'Access', type: 'string', jsonPath: '.spec.access' },
    { name: 'Version', type: 'integer', jsonPath: '.status.version' },
    ...readyColumns,
    ageColumn,
  ],
})

export type ServiceBinding = ObjectOf<typeof serviceBinding>
