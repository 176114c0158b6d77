// That a Tenant of before the records gets its first one, once, and that later changes are recorded as before.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'
import { createInStep } from '../kit/in-step.ts'
import { recordTenantChange } from './record-tenant.ts'

function tenantOf(generation: number, observedGeneration: number | undefined): Tenant {
  return {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme', uid: 'u', generation },
    spec: {
      account: { host: 'github.com', id: 2001, login: 'acme', type: 'Organization' },
      namespace: 'acme',
      roles: [{ role: 'admin', subject: { type: 'Owners' } }],
    },
    ...(observedGeneration === undefined ? {} : { status: { observedGeneration, conditions: [] } }),
  }
}

function memoryLog() {
  const entries: AuditEntry[] = []
  let reads = 0
  return {
    entries,
    reads: () => reads,
    list: async ({ action, limit }: AuditQuery) => {
      reads += 1
      return entries
        .filter(one => one.action === action)
        .toReversed()
        .slice(0, limit)
    },
    appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditEntry[]) => boolean) => {
      if (!isRecorded(entries.toReversed()))
        entries.push({ ...record, sequence: entries.length + 1, at: '', previousHash: '', hash: '' } as AuditEntry)
    },
  }
}

test('a Tenant that the log does not know gets one record of what it says, whichever process looks', async () => {
  const log = memoryLog()
  const inStep = createInStep()
  await recordTenantChange(log, inStep, tenantOf(3, 3))
  await recordTenantChange(log, createInStep(), tenantOf(3, 3))
  const before = log.reads()
  await recordTenantChange(log, inStep, tenantOf(3, 3))
  expect(log.reads()).toBe(before)
  expect(log.entries).toMatchObject([
    { action: 'tenant.changed', details: { generation: 3, roleCount: 1 }, reason: expect.stringContaining('no record') },
  ])
})

test('a change is recorded once, also when the process dies before it acts on it', async () => {
  const log = memoryLog()
  for (const observed of [undefined, undefined, 1]) await recordTenantChange(log, createInStep(), tenantOf(1, observed))
  for (const observed of [1, 1, 2]) await recordTenantChange(log, createInStep(), tenantOf(2, observed))
  expect(log.entries.map(({ reason }) => reason)).toEqual(['the Tenant was created', 'the specification of the Tenant changed'])
})
