// Who reports what the comparison of the audit log found: only the replica that leads.
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createCheckpointMetrics } from './metrics.ts'

test('what a replica found stays its own when another one leads', async () => {
  const registry = new Registry()
  let leads = true
  const found = createCheckpointMetrics(registry, () => leads)
  const value = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value
  expect(await value('sekisho_audit_log_problem')).toBeNaN()
  const at = new Date('2026-06-01T12:00:00Z')
  found({ head: 41, problem: true, checkpointAt: new Date('2026-06-01T11:00:00Z'), at })
  expect(await value('sekisho_audit_head_sequence')).toBe(41)
  expect(await value('sekisho_audit_log_problem')).toBe(1)
  expect(await value('sekisho_audit_compared_timestamp_seconds')).toBe(at.getTime() / 1000)
  expect(await value('sekisho_audit_checkpoint_timestamp_seconds')).toBe(at.getTime() / 1000 - 3600)
  leads = false
  expect(await value('sekisho_audit_log_problem')).toBeNaN()
  leads = true
  found({ problem: false, at })
  expect(await value('sekisho_audit_log_problem')).toBe(0)
  expect(await value('sekisho_audit_head_sequence')).toBeNaN()
})
