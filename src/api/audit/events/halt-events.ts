// The audit events about Halts. Part of the list in audit-event.ts.
import type { AuditEvent } from '../audit-event-shape.ts'

const object = '`Halt/<namespace>/<name>`'
const details = {
  uid: 'The UID of the Halt; the same in both of its events.',
  target: 'What is halted, as `spec.target` of the Halt says it.',
  workloads: '`Keep` or `ScaleToZero`: what becomes of the pods of a halted tenant.',
}

export const haltAuditEvents = {
  'halt.began': {
    description:
      'Somebody halted access. The tokens that end because of it have their own events `token.revoked`, whose reason names the Halt.',
    actor: 'Who created the Halt.',
    object,
    outcomes: { allowed: 'It holds from the moment that the object exists. The reason is the one of the Halt.' },
    details,
  },
  'halt.lifted': {
    description: 'A Halt ended.',
    actor: 'Who lifted it; `sekisho:halt` when the object was deleted without being lifted, as with its namespace.',
    object,
    outcomes: { allowed: 'What it stood in the way of is decided as before. The reason is what the person gave.' },
    details,
  },
} as const satisfies Readonly<Record<string, AuditEvent>>
