// What is counted of the audit log: what it accepted, and that it did not.
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { type AuditRecord, auditActions } from '../../api/audit/audit-event.ts'
import type { AuditLog } from './audit-log.ts'
import { countedAuditLog, createAuditMetrics } from './metrics.ts'

const record: AuditRecord = {
  action: 'session.signed-in',
  actor: 'github|github.com|1',
  object: 'session',
  outcome: 'allowed',
  reason: 'r',
  details: {},
}

test('counts entries by action and outcome, from 0, and refusals of the log', async () => {
  const registry = new Registry()
  let fails = false
  const append = async () => {
    if (fails) throw new Error('read-only')
    return {}
  }
  const log = countedAuditLog({ append, appendOnce: append } as unknown as AuditLog, createAuditMetrics(registry))
  const values = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? []
  const entries = await values('sekisho_audit_entries_total')
  expect(new Set(entries.map(({ labels }) => labels['action']))).toEqual(new Set(auditActions))
  expect(entries.every(({ value }) => value === 0)).toBe(true)
  await log.append(record)
  await log.appendOnce({ ...record, namespace: 'acme' }, () => false)
  fails = true
  await expect(log.append(record)).rejects.toThrow('read-only')
  const counted = (await values('sekisho_audit_entries_total')).filter(({ value }) => value > 0)
  expect(counted).toMatchObject([{ labels: { action: 'session.signed-in', outcome: 'allowed' }, value: 2 }])
  expect(await values('sekisho_audit_append_failures_total')).toMatchObject([{ value: 1 }])
})
