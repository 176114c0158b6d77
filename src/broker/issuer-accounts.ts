// People as the issuer asks for them: claims read from GitHub at the moment a token is made, and a record of every token made.
import type { IssuerAccounts } from '../identity/oidc/issuer-configuration.ts'
import type { AuditLog } from '../store/audit/audit-log.ts'
import type { People } from './people/people.ts'

export function createIssuerAccounts(deps: { readonly people: People; readonly audit: AuditLog }): IssuerAccounts {
  const { people, audit } = deps
  return {
    exists: people.exists,
    claims: people.claims,
    async recordIssued(subject, claims) {
      await audit.append({
        action: 'kubectl-token.issued',
        actor: subject,
        object: 'IDToken',
        outcome: 'allowed',
        reason: 'signed in, groups read from GitHub',
        details: { login: claims.login, groups: claims.groups },
      })
    },
  }
}
