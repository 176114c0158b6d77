// Ends every sign-in of a person for good: sessions of the pages, sessions of the issuer, and what programs refresh their
// tokens with. Nothing that was copied before works again, also not after the person's next sign-in. An ID token that was
// issued before works until it expires (10 minutes).
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { userSubject } from '../../api/names.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { OidcRecords } from '../../store/oidc-records.ts'
import type { Sessions } from '../../store/sessions.ts'
import type { Users } from '../../store/users.ts'

export type SignInDeps = {
  readonly store: {
    readonly audit: Pick<AuditLog, 'append'>
    readonly oidc: Pick<OidcRecords, 'endAllOf'>
    readonly sessions: Pick<Sessions, 'revokeAllOf'>
    readonly users: Pick<Users, 'remove'>
  }
}

export type EndedSignIns = {
  /** Sessions on the pages. */
  readonly webSessions: number
  /** Sign-ins of programs, such as of kubectl. */
  readonly programs: number
}

export type EndOfSignIns = {
  readonly host: string
  readonly userId: number
  /** Who ended them: the person, or a platform admin. */
  readonly actor: string
  readonly cause:
    | 'signed out everywhere'
    | 'revoked by a platform admin'
    | 'halted by a platform admin'
    | 'withdrew the App on GitHub'
}

/**
 * Ends first and records then: an audit log that cannot be written must not keep a stolen sign-in alive. Rejects when either
 * fails; safe to repeat. Except when the person signed out, the stored tokens of GitHub are deleted as well.
 */
export async function endSignIns({ store }: SignInDeps, end: EndOfSignIns): Promise<EndedSignIns> {
  const { host, userId, cause } = end
  const person = userSubject(host, userId)
  // Grants first: a refresh that is in progress while this runs cannot be followed by another.
  const programs = await store.oidc.endAllOf(person)
  const webSessions = await store.sessions.revokeAllOf(host, userId)
  if (cause !== 'signed out everywhere') await store.users.remove(host, userId)
  const ended = { webSessions, programs }
  await store.audit.append(endRecord(end, person, ended))
  return ended
}

function endRecord({ actor, cause }: EndOfSignIns, person: string, { webSessions, programs }: EndedSignIns): AuditRecord {
  return {
    action: 'session.ended',
    actor,
    object: 'session',
    outcome: 'allowed',
    reason: cause,
    details: { person, webSessions, programs },
  }
}
