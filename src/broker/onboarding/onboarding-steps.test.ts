// What the last step of an onboarding does when the process died in the middle of it. The steps before are swept on a real API server.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit-event.ts'
import { silentLog } from '../../lib/log.ts'
import type { Onboarding } from '../../store/onboardings.ts'
import { intentData } from './intent.ts'
import { type AdvanceDeps, advanceOnboarding } from './onboarding-steps.ts'

const written: Onboarding = {
  id: 'one',
  state: 'installation-written',
  host: 'github.com',
  accountId: 7,
  installationId: 11,
  userId: 1,
  data: intentData({
    app: 'main',
    account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' },
    boundBy: { id: 1, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
    teams: [],
    confirmed: true,
    tenantName: 'acme',
  }),
  createdAt: new Date(0),
  updatedAt: new Date(0),
}

test('an onboarding that was told and not yet finished is told once', async () => {
  const told: AuditRecord[] = []
  let dies = true
  const deps = {
    log: silentLog,
    audit: {
      appendOnce: async (record: AuditRecord, isTold: (earlier: readonly AuditRecord[]) => boolean) =>
        void (isTold(told) || told.push(record)),
    },
    onboardings: {
      advance: async () => {
        if (dies) throw new Error('the process is killed')
      },
    },
  } as unknown as AdvanceDeps
  await expect(advanceOnboarding(deps, written)).rejects.toThrow('killed')
  dies = false
  expect(await advanceOnboarding(deps, written)).toBe('finished')
  expect(told).toHaveLength(1)
  // Another onboarding of the same tenant is told for itself.
  await advanceOnboarding(deps, { ...written, id: 'two' })
  expect(told.map(({ details }) => details['onboarding'])).toEqual(['one', 'two'])
})
