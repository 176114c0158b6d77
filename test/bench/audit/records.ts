// The records of the bench: what the token desk writes when it issues a token, each slightly different.
import { createHash } from 'node:crypto'
import type { AuditRecord } from '../../../src/api/audit/audit-event.ts'

/** Made once for each number that is asked for: hashes are no part of what is measured. */
const hashes = Array.from({ length: 1000 }, (_, number) => createHash('sha256').update(String(number)).digest('base64'))

export function recordNumber(number: number): AuditRecord {
  const tenant = `tenant-${number % 50}`
  const person = `github|github.com|${500_000 + (number % 1000)}`
  return {
    action: 'token.minted',
    actor: `system:serviceaccount:${tenant}:ci`,
    namespace: tenant,
    object: `RepositoryGrant/${tenant}/read-shop`,
    outcome: 'allowed',
    reason: `the grant allows it, and the quota holds (${number})`,
    details: {
      person,
      login: `user-${number % 1000}`,
      grantUid: `6f9d2f0a-1c55-4f1e-9e0c-${String(number % 5000).padStart(12, '0')}`,
      generation: 1,
      rule: 'read-contents',
      inputs: (hashes[number % 1000] ?? '').slice(0, 16),
      repositories: [
        { id: 186_853_002, fullName: `${tenant}/shop` },
        { id: 186_853_003, fullName: `${tenant}/site` },
      ],
      repositoryIds: [186_853_002, 186_853_003],
      permissions: { contents: 'read', metadata: 'read' },
      host: 'github.com',
      appId: 5001,
      installationId: 4711,
      subject: { kind: 'ServiceAccount', name: 'ci', uid: `d5f0a5c4-7c19-4d3f-8a53-${String(number % 50).padStart(12, '0')}` },
      pod: { name: `ci-${number % 100}`, uid: `0a2cbd9e-2a6b-4c0a-b0a5-${String(number).padStart(12, '0')}` },
      address: `10.0.${number % 250}.7`,
      token: `b3c0e8e2-5a52-4b3c-9e0c-${String(number).padStart(12, '0')}`,
      hashedToken: hashes[number % 1000] ?? '',
      expiresAt: '2026-02-03T11:20:30.000Z',
    },
  }
}
