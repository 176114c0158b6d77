// When a decision is recorded in the audit log, and when it is there already.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../../api/audit/audit-event.ts'
import type { AuditEntry } from '../../../store/audit/audit-chain.ts'
import { type DecisionLog, recordDecision } from './record-decision.ts'

function decision(decided: string, { uid = 'uid-1', rule = '', name = 'acme/shop' } = {}) {
  return {
    action: 'grant.decided',
    actor: 'github|github.localhost|1002',
    namespace: 'acme',
    object: 'RepositoryGrant/acme/read-shop',
    outcome: decided === 'Approved' ? 'allowed' : 'denied',
    reason: 'to read',
    details: { decision: decided, rule, check: decided, grantUid: uid, repositories: [{ id: 1, fullName: name }] },
  } satisfies AuditRecord
}

/** A log in memory; every call rejects with `fails`. */
function openLog(fails?: Error) {
  const entries: AuditEntry[] = []
  const log: DecisionLog = {
    async appendOnce(record, isTold) {
      if (fails !== undefined) throw fails
      const earlier = entries.filter(({ namespace, action }) => namespace === record.namespace && action === record.action)
      if (!isTold(earlier.toReversed()))
        entries.push({ ...record, sequence: entries.length + 1, at: '', previousHash: '', hash: '' })
    },
  }
  return { log, entries }
}

test('the same decision again, because its status was not written, is not recorded again', async () => {
  const { log, entries } = openLog()
  await recordDecision(log, decision('Approved'))
  await recordDecision(log, decision('Approved', { uid: 'uid-2' }))
  await recordDecision(log, decision('Approved', { name: 'acme/renamed' }))
  expect(entries.map(({ details }) => details['grantUid'])).toEqual(['uid-1', 'uid-2'])
})

test('what differs from the latest decision about the grant is recorded', async () => {
  const { log, entries } = openLog()
  await recordDecision(log, decision('Approved'))
  await recordDecision(log, decision('Denied'))
  await recordDecision(log, decision('Approved'))
  await recordDecision(log, decision('Approved', { rule: 'ceiling' }))
  await recordDecision(log, decision('Approved', { uid: 'uid-2', rule: 'ceiling' }))
  expect(entries.map(({ details }) => [details['decision'], details['rule'], details['grantUid']])).toEqual([
    ['Approved', '', 'uid-1'],
    ['Denied', '', 'uid-1'],
    ['Approved', '', 'uid-1'],
    ['Approved', 'ceiling', 'uid-1'],
    ['Approved', 'ceiling', 'uid-2'],
  ])
})

test('a log that cannot be read records no decision', async () => {
  const { log, entries } = openLog(new Error('away'))
  await expect(recordDecision(log, decision('Approved'))).rejects.toThrow('away')
  expect(entries).toEqual([])
})
