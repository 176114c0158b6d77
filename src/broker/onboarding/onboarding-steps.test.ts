// What the last step of an onboarding does when the process died during it. The crash sweep covers the earlier steps on a real
// API server.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { OnboardingRecord } from './onboarding-records.ts'
import { advanceOnboarding, type StepDeps } from './onboarding-steps.ts'

const written: OnboardingRecord = {
  id: 'one',
  state: 'installation-written',
  host: 'github.com',
  accountId: 7,
  installationId: 11,
  userId: 1,
  intent: {
    app: 'main',
    account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' },
    boundBy: { id: 1, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
    teams: [],
    tenantName: 'acme',
  },
  createdAt: new Date(0),
  updatedAt: new Date(0),
}

test('an onboarding that was recorded but not finished is recorded once', async () => {
  const recorded: AuditRecord[] = []
  let dies = true
  const deps = {
    log: silentLog,
    audit: {
      appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditRecord[]) => boolean) =>
        void (isRecorded(recorded) || recorded.push(record)),
    },
    onboardings: {
      move: async () => {
        if (dies) throw new Error('the process is killed')
      },
    },
  } as unknown as StepDeps
  await expect(advanceOnboarding(deps, written)).rejects.toThrow('killed')
  dies = false
  expect(await advanceOnboarding(deps, written)).toBe('finished')
  expect(recorded).toHaveLength(1)
  // Another onboarding of the same tenant gets a record of its own.
  await advanceOnboarding(deps, { ...written, id: 'two' })
  expect(recorded.map(({ details }) => details['onboarding'])).toEqual(['one', 'two'])
})

test('an owner who proves the same binding again has it checked at once', async () => {
  const { intent, installationId } = written
  const patches: unknown[] = []
  const existing = { metadata: { uid: 'u' }, spec: { ...intent, installationId } }
  const namespace = { metadata: { labels: { 'sekisho.dev/tenant': 'acme' } } }
  const deps = {
    log: silentLog,
    audit: { appendOnce: async () => {} },
    onboardings: { move: async () => {} },
    kube: {
      get: async ({ kind }: { readonly kind: string }) => (kind === 'Namespace' ? namespace : existing),
      mergePatch: async (_type: unknown, _key: unknown, patch: unknown) => patches.push(patch),
    },
  } as unknown as StepDeps
  expect(await advanceOnboarding(deps, { ...written, state: 'tenant-written' })).toBe('finished')
  expect(patches).toEqual([{ metadata: { annotations: { 'sekisho.dev/wake': '2026-01-01T00:00:00.000Z/one' } } }])
})

test.each([
  ['is gone after it was written', 'tenant-written', undefined],
  ['is being deleted', 'tenant-written', '2026-01-01T00:00:00Z'],
  ['that it would join is being deleted', 'confirmed', '2026-01-01T00:00:00Z'],
] as const)('an onboarding ends, and makes nothing, when the tenant %s', async (_when, state, deletionTimestamp) => {
  const steps: unknown[] = []
  const { account } = written.intent
  const existing = deletionTimestamp && { metadata: { name: 'acme', deletionTimestamp }, spec: { account } }
  const write = async () => steps.push('written')
  const deps = {
    log: silentLog,
    audit: { appendOnce: write },
    onboardings: { move: async (_record: unknown, to: string) => void steps.push(to) },
    kube: { get: async () => existing, create: write, mergePatch: write, delete: write },
  } as unknown as StepDeps
  expect(await advanceOnboarding(deps, { ...written, state })).toBe('finished')
  expect(steps).toEqual(['abandoned'])
})
