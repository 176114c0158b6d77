// Which entries of the audit log a request asks for, within what its sender may read (src/broker/auditors).
import { type Static, Type } from '@fastify/type-provider-typebox'
import { auditActions } from '../../../../api/audit/audit-event.ts'
import { auditOutcomes } from '../../../../api/audit/audit-event-shape.ts'
import { actionsOf, auditGroupNames } from '../../../../api/audit/audit-groups.ts'
import { defined } from '../../../../lib/json/defined.ts'
import type { AuditScope } from '../../../auditors/audit-readers.ts'
import { idText, namespaceText } from '../../field-schemas.ts'

export const sequenceText = Type.String({ pattern: '^[0-9]{1,15}$' })
const time = Type.String({ format: 'date-time', maxLength: 30, pattern: 'Z$' })
const subject = Type.String({ minLength: 1, maxLength: 512 })

/** The filters that every reading of the log has. */
export const auditFilters = {
  namespace: Type.Optional(namespaceText),
  what: Type.Optional(Type.Union(auditGroupNames.map(name => Type.Literal(name)))),
  action: Type.Optional(Type.Union(auditActions.map(action => Type.Literal(action)))),
  actor: Type.Optional(subject),
  /** Who acted, in whose name access was, or who ended it. */
  person: Type.Optional(subject),
  /** Of a grant or another object. */
  uid: Type.Optional(Type.String({ pattern: '^[0-9a-zA-Z-]{1,64}$' })),
  /** SHA-256 of a token in base64, as in GitHub's audit log. */
  hashedToken: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' })),
  outcome: Type.Optional(Type.Union(auditOutcomes.map(outcome => Type.Literal(outcome)))),
  object: Type.Optional(subject),
  repository: Type.Optional(idText),
  since: Type.Optional(time),
  until: Type.Optional(time),
}
const filterQuery = Type.Object(auditFilters)
export type AuditFilters = Static<typeof filterQuery>

/** What a request asks for, within what its sender may read. */
export function auditFilter(query: AuditFilters, scope: AuditScope) {
  const { what, action, actor, person, uid, hashedToken, outcome, object, repository, since, until } = query
  // The tenant's own beginning is a limit that a request cannot move.
  const begins = [since === undefined ? [] : new Date(since), scope.since ?? []]
    .flat()
    .toSorted((a, b) => b.getTime() - a.getTime())
  return {
    ...defined({ action, actor, user: person, uid, hashedToken, outcome, object, ...scope, since: begins[0] }),
    ...(what === undefined ? {} : { actions: actionsOf(what) }),
    ...(repository === undefined ? {} : { repositoryId: Number(repository) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
  }
}
