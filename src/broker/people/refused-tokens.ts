// Who asked for an ID token and has no role: in the audit log before they learn it. Equal refusals are counted, because a
// program asks again and again.
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import { type CountedAuditDeps, createCountedAudit } from '../../store/audit/counted-audit.ts'
import type { People } from './people.ts'

export type RefusedTokens = {
  /** As `People.claims`. Rejects with `unavailable` when the refusal cannot be recorded. */
  readonly tokenClaims: People['claims']
  /** Writes how often equal refusals followed. */
  readonly refusals: Periodic
}

const windowMilliseconds = 60_000
const flushMilliseconds = 5_000

export function createRefusedTokens(people: Pick<People, 'claims' | 'loginOf'>, deps: CountedAuditDeps): RefusedTokens {
  const counted = createCountedAudit(deps)
  const work = (): Promise<void> => counted.flush()
  const refusals = periodic({ name: 'refused sign-ins', everyMilliseconds: flushMilliseconds, work, ...deps })
  return {
    async tokenClaims(subject) {
      try {
        return await people.claims(subject)
      } catch (error) {
        if (!isAppError(error, 'forbidden')) throw error
        const check = error.reason ?? error.code
        const details = { check, ...defined({ login: await people.loginOf(subject) }) }
        const record = refusalRecord(subject, details, error.message)
        await counted.append({ record, key: `${subject} ${check}`, windowMilliseconds })
        throw error
      }
    },
    refusals: {
      ...refusals,
      async stop() {
        await refusals.stop()
        await counted.flush(true)
      },
    },
  }
}

function refusalRecord(subject: string, details: AuditRecord['details'], reason: string): AuditRecord {
  return { action: 'kubectl-token.refused', actor: subject, object: 'IDToken', outcome: 'denied', reason, details }
}
