// The audit events about services of tenants, such as databases, and their credentials. Part of the list in audit-event.ts.
import type { AuditEvent } from '../audit-event-shape.ts'

const actor = '`sekisho:data-services`: who asked for it is in the log of the API server.'
const service = '`ServiceInstance/<namespace>/<name>` or `Bucket/<namespace>/<name>`'
const binding = '`ServiceBinding/<namespace>/<name>`'
const aboutService = {
  uid: 'The UID of the ServiceInstance or Bucket.',
  class: 'The name of its ServiceClass.',
  plan: 'The plan that it had.',
  externalId: 'Its name on the server, such as that of the database; of a bucket what its tag says of whose it is.',
  bucket: 'Of a Bucket: its name in the store.',
} as const
const aboutCredential = {
  uid: 'The UID of the ServiceBinding.',
  kind: 'What it is a credential of: `ServiceInstance` or `Bucket`.',
  service: 'The name of that.',
  prefix: 'Of a Bucket: with what the names of the objects begin that it reaches. Absent for all.',
  access: 'What the credential can do.',
  application: 'The Application that owns the ServiceBinding. Absent for one that somebody made.',
  slot: 'Which of the two credentials of the ServiceBinding: `a` or `b`.',
  issuedAt: 'When the platform began to make it: with UID and slot, which one it is.',
} as const

const endCause =
  '`LockTableFilled`: the platform closed it, because its sessions had taken most locks of the server. Absent for one that ended as it should.'

export const serviceAuditEvents = {
  'service.provisioned': {
    description: 'A service of a tenant, a database or a bucket, exists on its server.',
    actor,
    object: service,
    outcomes: { allowed: 'It was made, or found again by the name that it had before.' },
    details: aboutService,
  },
  'service.kept': {
    description:
      'A ServiceInstance or Bucket was deleted, and its data stay on the server: `whenDeleted: Keep`, or a bucket with objects whose Tenant is deleted.',
    actor,
    object: service,
    outcomes: {
      allowed: 'The data stay, without a credential.',
      failed: 'Somebody removed its finalizer: what is on the server nobody has looked at.',
    },
    details: aboutService,
  },
  'service.deleted': {
    description: 'A ServiceInstance or Bucket was deleted, with its data: `whenDeleted: Delete`, or a bucket without objects.',
    actor,
    object: service,
    outcomes: { allowed: 'Nothing of it is left on the server.' },
    details: aboutService,
  },
  'credential.issued': {
    description: 'A credential of a service was made, tried, and written to the Secret of its ServiceBinding.',
    actor,
    object: binding,
    outcomes: { allowed: 'Pods can have it.' },
    details: aboutCredential,
  },
  'credential.replaced': {
    description: 'Another credential took the place of this one, which still works for a time.',
    actor,
    object: binding,
    outcomes: { allowed: 'The Secret holds the other one.' },
    details: { ...aboutCredential, until: 'When it ends at the latest.' },
  },
  'credential.revoked': {
    description: 'A credential of a service ended on its server, with the sessions that used it.',
    actor,
    object: binding,
    outcomes: {
      allowed: 'The server knows it no more.',
      failed: 'Somebody removed the finalizer of the ServiceBinding: it may still work on the server.',
    },
    details: { ...aboutCredential, endedAt: 'When it ended.', cause: endCause },
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
