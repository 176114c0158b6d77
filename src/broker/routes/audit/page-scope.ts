// What somebody reads of the audit log in a browser. RBAC decides. Whoever has no part in any tenant, and so no groups, is asked
// about by their user name alone: somebody may have bound a role to them by hand, in the namespace that they name.
import { isAppError } from '../../../lib/errors.ts'
import type { AuditReaders, AuditScope } from '../../auditors/audit-readers.ts'
import type { Person } from '../../sessions.ts'
import { hasNoRole, type Identities } from '../tenants/identities.ts'

/** Rejects as `AuditReaders.scope` and `identityOf`: with NoRole for who has no role and may not read what they name. */
export type PageScope = (person: Person, namespace: string | undefined) => Promise<AuditScope>

export function createPageScope(auditReaders: Pick<AuditReaders, 'scope'>, identityOf: Identities): PageScope {
  return async (person, namespace) => {
    const found = await identityOf(person).catch((error: unknown) => {
      if (hasNoRole(error)) return error
      throw error
    })
    if (!isAppError(found)) return auditReaders.scope(found, namespace)
    return auditReaders.scope({ subject: person.subject, groups: [] }, namespace).catch((error: unknown) => {
      throw isAppError(error, 'not_found') ? found : error
    })
  }
}
