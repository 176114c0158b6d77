// The records of the bench: what the token desk writes when it issues a token, each slightly different.
import type { AuditRecord } from '../../../src/api/audit/audit-event.ts'

export function recordNumber(number: number): AuditRecord {
  return {
    action: 'token.minted',
    actor: `github|github.com|${500_000 + (number % 1000)}`,
    namespace: `tenant-${number % 50}`,
    object: `RepositoryGrant/tenant-${number % 50}/read-shop`,
    outcome: 'allowed',
    reason: `the grant allows it, and the quota holds (${number})`,
    details: {
      repositoryIds: [186_853_002, 186_853_003],
      permissions: { contents: 'read', metadata: 'read' },
      installationId: 4711,
      token: `b3c0e8e2-5a52-4b3c-9e0c-${String(number).padStart(12, '0')}`,
      expiresAt: '2026-02-03T11:20:30.000Z',
    },
  }
}
