// ServiceInstance: one service of a tenant, such as a database. Applications use it by ServiceBindings.
// docs/adr/0100-services-are-classes-instances-and-bindings.md
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel, nameIsLabel, timestamp } from '../schema/fields.ts'
import { bytes } from '../schema/quantity.ts'
import { choice, integer, list, object, optional, text } from '../schema/schema.ts'
import { databaseExtensionField } from './extensions.ts'
import { offerReasons } from './offer-reasons.ts'

const reasons = defineReasons(
  {
    ready: {
      Provisioned: 'It exists on the server, and can be used.',
    },
    progress: {
      Provisioning: 'The platform is making it on the server.',
    },
    machine: {
      InstanceMissing:
        'The server does not have the database any more that this instance had, for example because it was restored from an older backup. The platform makes no empty one in its place. A platform admin restores it, or the instance is deleted and made again.',
    },
    person: {
      ExtensionNotAllowed: 'The ServiceClass does not allow an extension in `spec.parameters`. The message names it.',
      NameTaken:
        'The server has a database of the name that the platform needs, which the platform did not make. A platform admin removes it there.',
      WritesEnded:
        'The instance took more space than its plan has for an hour, or twice as much. Its credentials read, delete and truncate, and write again by themselves when it takes less than 90 % of its plan.',
    },
    failed: {
      RefusedByServer: 'The server refused to make it as it is wanted. The message has what it answered.',
    },
  },
  {},
  offerReasons,
)

/** How an instance is made, by whomever: a person, or the platform for a preview. */
export const planOfInstanceField = text({
  description: 'The name of a plan of the ServiceClass. Its default plan when omitted.',
  max: 63,
  pattern: dnsLabel,
})

/** `spec.parameters.postgresql`. */
export const databaseParametersField = object(
  {
    extensions: optional(
      list(databaseExtensionField, {
        description:
          'Extensions that the database has, beside those that applications create themselves. The ServiceClass must allow them. What is taken out of the list stays in the database.',
        max: 32,
        unique: 'set',
      }),
    ),
  },
  { description: 'For ServiceClasses of type `postgresql`.' },
)

const parametersField = object(
  { postgresql: optional(databaseParametersField) },
  { description: 'How the instance is made, by the type of the ServiceClass.' },
)

/** Reasons of the conditions. */
export const serviceInstanceReasons = reasons.names

export const serviceInstance = defineKind({
  group: 'services',
  kind: 'ServiceInstance',
  plural: 'serviceinstances',
  shortNames: ['svci'],
  scope: 'Namespaced',
  tenantAccess: 'write',
  description:
    'A service of the tenant, such as a PostgreSQL database. Applications that name it in `spec.services` get a credential of it.',
  writtenBy: 'Developers and admins of the tenant.',
  spec: object(
    {
      class: text({
        description: 'The name of a ServiceClass of type `postgresql`. It cannot change.',
        max: 63,
        pattern: dnsLabel,
      }),
      plan: optional(planOfInstanceField),
      parameters: optional(parametersField),
      whenDeleted: choice(['Keep', 'Delete'], {
        description:
          'What happens to the data when this object is deleted. `Keep`: it stays on the server without a credential, and an instance of the same name in this namespace finds it again. `Delete`: it is deleted, too.',
        default: 'Keep',
      }),
    },
    {
      description: 'Which service, in which size.',
      rules: [
        {
          rule: 'self.class == oldSelf.class',
          message: 'class cannot change: create another ServiceInstance',
          fieldPath: '.class',
          reason: 'FieldValueForbidden',
        },
      ],
    },
  ),
  status: {
    externalId: optional(
      text({ description: 'The name of the instance on the server, such as the name of the database.', max: 63 }),
    ),
    endpoint: optional(
      object(
        {
          host: text({ description: 'The host name or IP address.', max: 253 }),
          port: integer({ description: 'The TCP port.', min: 1, max: 65_535 }),
        },
        { description: 'Where the instance is reached.' },
      ),
    ),
    version: optional(text({ description: 'The version of the server, such as `15.18`.', max: 64 })),
    plan: optional(text({ description: 'The plan that the instance has.', max: 63 })),
    end: optional(choice(['Kept', 'Deleted'], { description: 'What became of the data, once this object is being deleted.' })),
    usage: optional(
      object(
        {
          storage: bytes({ description: 'How much space it takes on the server.', most: '1Ei' }),
          measuredAt: timestamp('When that was measured.'),
          overSince: optional(timestamp('Since when it takes more than its plan has. Absent while it does not.')),
        },
        { description: 'What the instance uses.' },
      ),
    ),
  },
  conditions: {
    Provisioned: 'The instance exists on the server.',
    WithinPlan: 'The instance takes no more space than its plan has.',
    Ready: 'Applications can use the instance.',
  },
  reasons,
  rules: [nameIsLabel],
  columns: [
    { name: 'Class', type: 'string', jsonPath: '.spec.class' },
    { name: 'Plan', type: 'string', jsonPath: '.status.plan' },
    { name: 'Storage', type: 'string', jsonPath: '.status.usage.storage', priority: 1 },
    ...readyColumns,
    ageColumn,
  ],
})

export type ServiceInstance = ObjectOf<typeof serviceInstance>
