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

test('an account that is bound again ends the other Apps of the account first, each recorded once, and nothing of others', async () => {
  const { intent, installationId } = written
  const one = (name: string, change: object = {}) => ({
    metadata: { name, namespace: 'acme', uid: `uid-${name}` },
    spec: { ...intent, installationId, ceiling: { ...intent.ceiling, permissions: { contents: 'write' } }, ...change },
  })
  const named = one('github')
  const other = one('other', { account: { ...intent.account, id: 8 } })
  let present = [named, one('github-second'), one('github-third'), other]
  const steps: string[] = []
  const recorded: AuditRecord[] = []
  let dies = true
  const deps = {
    log: silentLog,
    audit: {
      appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditRecord[]) => boolean) => {
        if (isRecorded(recorded.filter(({ action }) => action === record.action))) return
        recorded.push(record)
        steps.push(`record ${record.details['uid']}`)
      },
    },
    onboardings: { move: async (_record: unknown, to: string) => steps.push(to) },
    kube: {
      get: async ({ kind }: { readonly kind: string }) => {
        if (kind === 'Namespace') return { metadata: { labels: { 'sekisho.dev/tenant': 'acme' } } }
        return kind === 'Tenant' ? { metadata: { name: 'acme' }, spec: intent } : present.find(item => item === named)
      },
      list: async () => present,
      delete: async (_kind: unknown, { name }: { readonly name: string }, { uid }: { readonly uid: string }) => {
        if (dies && name === 'github-third') throw new Error('the process is killed')
        steps.push(`delete ${uid}`)
        present = present.filter(({ metadata }) => metadata.name !== name)
      },
      create: async () => steps.push('create'),
    },
  } as unknown as StepDeps
  const onboarding = { ...written, state: 'tenant-written' as const }
  await expect(advanceOnboarding(deps, onboarding)).rejects.toThrow('killed')
  dies = false
  expect(await advanceOnboarding(deps, onboarding)).toBe('waiting')
  // One that comes between is ended before the new binding is there.
  present = [...present, one('github-late')]
  expect(await advanceOnboarding(deps, onboarding)).toBe('finished')
  expect(steps).toEqual([
    ...['record uid-github-second', 'delete uid-github-second', 'record uid-github-third', 'delete uid-github-third'],
    ...['record uid-github', 'delete uid-github', 'record uid-github-late', 'delete uid-github-late'],
    ...['create', 'installation-written', 'record undefined', 'finished'],
  ])
  expect(recorded.slice(0, 4).map(({ action }) => action)).toEqual(Array(4).fill('installation.replaced'))
  expect(present).toEqual([other])
})
