// A grant of several repositories goes on without those that ended, and what the log says of it: each change once.
import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { RepositoryPermission } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { noAnswers } from '../../policy/grants/approvals.ts'
import { noGrantPolicies } from '../../policy/grants/grant-policies.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { grantObject, installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'
import type { InStep } from '../kit/in-step.ts'
import { createInStep } from '../kit/in-step.ts'
import { type Decision, decide } from './decide.ts'
import type { Facts, GitHubAnswer } from './gather.ts'
import { accessRecords, type Logged, loggedIn, recordAccess } from './records/record-access.ts'
import { decisionRecord } from './records/record-decision.ts'
import { nextStatus } from './status.ts'

const { status: _status, ...undecided } = grantObject({ spec: { repositories: ['acme/shop', 'acme/site'] } })
const shop = { id: 4001, name: 'acme/shop' }
const site = { id: 4002, name: 'acme/site' }
const start = Date.parse('2026-06-01T12:00:00Z')

type Change = {
  readonly missing?: readonly number[]
  readonly archived?: readonly number[]
  readonly lost?: readonly number[]
}

function found({ missing = [], archived = [], lost = [] }: Change = {}): GitHubAnswer {
  const roles = [shop, site].map(({ id }): [number, RepositoryPermission] => [id, lost.includes(id) ? 'none' : 'write'])
  const requester = { kind: 'known', login: 'dave', permissions: new Map(roles) } as const
  return { kind: 'found', repositories: [shop, site], missing, archived, requester }
}

function factsAt(object: RepositoryGrant, minute: number, change: Partial<Facts> = {}): Facts {
  const askedAt = new Date(start + minute * 60_000)
  const standing = { installation: installationObject, installationReady: true, halts: [], applications: [], tenant: 'acme' }
  const rules = { policies: noGrantPolicies, answers: noAnswers, endedApprovals: [], memberships: new Map<string, boolean>() }
  return { object, ...standing, ...rules, answer: found(), askedAt, ...change }
}

/** What the log has when each earlier reconcile, and the decision of this one, came to its end. */
function loggedBy({ status }: RepositoryGrant, { judged }: Decision): Logged {
  const isNew = status?.decision !== 'Approved'
  const gives = isNew || findCondition(status.conditions, 'Ready')?.status === 'True'
  const repositories = isNew ? judged.held : (status.repositories ?? [])
  return { gives, repositoryIds: repositories.map(({ id }) => id), sequence: 1 }
}

/** What one reconcile makes of it: the object with its next status, the records, and the decision. */
function reconciled(object: RepositoryGrant, minute: number, change: Partial<Facts> = {}) {
  const facts = factsAt(object, minute, change)
  const decision = decide(facts)
  const next: RepositoryGrant = { ...object, status: nextStatus(facts, decision) }
  const isApproved = decision.ruling?.decision === 'Approved'
  const records = isApproved ? accessRecords(facts, decision, loggedBy(object, decision)) : []
  const told = records.map(({ action, outcome, details }) => [action, outcome, details.repositoryIds, details.cause])
  return { next, decision, records: told }
}

const approved = reconciled(undecided, 0).next

describe('a grant of two repositories', () => {
  test.each([
    ['deleted or transferred', { missing: [4002] }, 'RepositoryNotFound'],
    ['made private, and its requester cannot read it', { lost: [4002] }, 'RequesterLacksAccess'],
  ] as const)('goes on for the other when one is %s, and for both when that is over', (_case, change, reason) => {
    const out = reconciled(approved, 1, { answer: found(change) })
    expect(out.decision).toMatchObject({ ruling: { decision: 'Approved' }, ready: { status: 'True' }, revoke: false })
    expect(out.decision.ready.message).toContain('Not for 1 of its 2 repositories')
    expect(out.next.status).toMatchObject({
      repositories: [shop],
      endedRepositories: [{ ...site, reason, since: new Date(start + 60_000).toISOString() }],
    })
    expect(out.records).toEqual([['grant.repository-changed', 'denied', [4002], reason]])
    const again = reconciled(out.next, 2, { answer: found(change) })
    expect(again.records).toEqual([])
    expect(again.next.status?.endedRepositories).toEqual(out.next.status?.endedRepositories)
    const atRest = reconciled(out.next, 3, { answer: { kind: 'not-due' } })
    expect(atRest.next.status).toEqual(out.next.status)
    const back = reconciled(again.next, 4)
    expect(back.records).toEqual([['grant.repository-changed', 'allowed', [4002], 'Approved']])
    expect(back.next.status?.repositories).toEqual([shop, site])
    expect(back.next.status?.endedRepositories).toBeUndefined()
    expect(back.decision.ready.message).not.toContain('Not for')
  })

  test('is denied when none is left, and when it lacks one before it was ever approved', () => {
    const none = reconciled(approved, 1, { answer: found({ lost: [4001], missing: [4002] }) })
    expect(none.decision).toMatchObject({ ruling: { decision: 'Denied', reason: 'RequesterLacksAccess' }, revoke: true })
    expect(reconciled(undecided, 0, { answer: found({ lost: [4002] }) }).decision.ruling?.decision).toBe('Denied')
    // What is known is asked for again, and holds again.
    expect(reconciled(none.next, 2).next.status?.repositories).toEqual([shop, site])
  })

  test('reads an archived repository, and does not write there unless what it writes are reports of its owner', () => {
    const archived = { answer: found({ archived: [4002] }) }
    expect(reconciled(approved, 1, archived).next.status?.repositories).toEqual([shop, site])
    const subjects = [{ kind: 'RemoteSync' as const, name: 'shop' }]
    const writing = { ...undecided, spec: { ...undecided.spec, subjects, permissions: { statuses: 'write' as const } } }
    const before = reconciled(writing, 0).next
    expect(reconciled(before, 1, archived).next.status).toMatchObject({
      decision: 'Approved',
      repositories: [shop],
      endedRepositories: [{ ...site, reason: 'RepositoryArchived', message: expect.stringContaining('unarchive it') }],
    })
    const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'RemoteSync', name: 'shop', uid: 'u', controller: true }
    const owned = { ...before, metadata: { ...before.metadata, ownerReferences: [owner] } }
    expect(reconciled(owned, 1, archived).next.status?.repositories).toEqual([shop, site])
  })

  test('is not halted by a Halt of the repository that it lost', () => {
    const out = reconciled(approved, 1, { answer: found({ missing: [4002] }) }).next
    const halts = [haltObject({ type: 'Repository', repository: { host: 'github.localhost', id: 4002 } })]
    expect(reconciled(out, 2, { answer: { kind: 'not-due' }, halts }).decision.ready.status).toBe('True')
  })
})

describe('an approved grant that gives no access for a while', () => {
  const away = { answer: { kind: 'not-due' }, installationReady: false } as const

  test('has one record when it stops, with why, and one when it gives access again', () => {
    const stopped = reconciled(approved, 1, away)
    expect(stopped.records).toEqual([['grant.access-changed', 'denied', [4001, 4002], 'InstallationNotReady']])
    expect(reconciled(stopped.next, 2, away).records).toEqual([])
    const back = reconciled(stopped.next, 3, { answer: { kind: 'not-due' } })
    expect(back.records).toEqual([['grant.access-changed', 'allowed', [4001, 4002], 'Approved']])
    expect(reconciled(back.next, 4, { answer: { kind: 'not-due' } }).records).toEqual([])
  })

  test('has one when it is approved while a Halt stands: the decision alone would say that it gives access', () => {
    const halts = [haltObject({ type: 'Repository', repository: { host: 'github.localhost', id: 4001 } })]
    expect(reconciled(undecided, 0, { halts }).records).toEqual([['grant.access-changed', 'denied', [4001, 4002], 'Halted']])
  })

  test('has none when it is denied, or its time is over: those have records', () => {
    expect(reconciled(approved, 1, { answer: found({ lost: [4001, 4002] }) }).records).toEqual([])
    expect(reconciled(approved, 24 * 60, { answer: { kind: 'not-due' } }).records).toEqual([])
  })

  function memoryLog() {
    const entries: AuditEntry[] = []
    const add = (record: AuditRecord) =>
      void entries.push({ ...record, sequence: entries.length + 1, at: '', previousHash: '', hash: '' } as AuditEntry)
    return {
      entries,
      add,
      list: async ({ action, limit }: AuditQuery) =>
        entries
          .filter(one => one.action === action)
          .toReversed()
          .slice(0, limit),
      appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditEntry[]) => boolean) => {
        if (!isRecorded(entries.filter(({ action }) => action === record.action).toReversed())) add(record)
      },
    }
  }

  /** One reconcile of a process that `knows`; the status that it would write. */
  async function run(log: ReturnType<typeof memoryLog>, knows: InStep, facts: Facts): Promise<RepositoryGrant> {
    const decision = decide(facts)
    await recordAccess(log, knows, facts, decision)
    return { ...facts.object, status: nextStatus(facts, decision) }
  }
  const outcomes = ({ entries }: ReturnType<typeof memoryLog>) => entries.map(({ outcome }) => outcome)

  test('is recorded once when the process dies before the status, also when it gives access again by then', async () => {
    const log = memoryLog()
    log.add(decisionRecord(factsAt(undecided, 0), decide(factsAt(undecided, 0))))
    await run(log, createInStep(), factsAt(approved, 1, away))
    await run(log, createInStep(), factsAt(approved, 2, away))
    expect(outcomes(log)).toEqual(['allowed', 'denied'])
    const back = await run(log, createInStep(), factsAt(approved, 3))
    expect(outcomes(log)).toEqual(['allowed', 'denied', 'allowed'])
    await run(log, createInStep(), factsAt(back, 4, away))
    expect(outcomes(log)).toEqual(['allowed', 'denied', 'allowed', 'denied'])
  })

  test('a repository that ended is in the log once, also when the process dies before the status and it is back by then', async () => {
    const log = memoryLog()
    log.add(decisionRecord(factsAt(undecided, 0), decide(factsAt(undecided, 0))))
    const gone = { answer: found({ missing: [4002] }) }
    await run(log, createInStep(), factsAt(approved, 1, gone))
    await run(log, createInStep(), factsAt(approved, 2, gone))
    expect(loggedIn(log.entries)).toEqual({ gives: true, repositoryIds: [4001], sequence: 2 })
    await run(log, createInStep(), factsAt(approved, 3))
    expect(loggedIn(log.entries)).toEqual({ gives: true, repositoryIds: [4001, 4002], sequence: 3 })
  })

  test('an active grant that the log does not know has a beginning there, once', async () => {
    const log = memoryLog()
    await run(log, createInStep(), factsAt(approved, 1, { answer: { kind: 'not-due' } }))
    await run(log, createInStep(), factsAt(approved, 2, { answer: { kind: 'not-due' } }))
    expect(log.entries).toMatchObject([
      { action: 'grant.access-changed', outcome: 'allowed', details: { repositoryIds: [4001, 4002], cause: 'Approved' } },
    ])
  })

  test('the log is not read while nothing changes', async () => {
    const knows = createInStep()
    knows.add(undecided.metadata.uid ?? '')
    const unread = { list: () => expect.unreachable('read'), appendOnce: () => expect.unreachable('written') }
    const facts = factsAt(approved, 1, { answer: { kind: 'not-due' } })
    await recordAccess(unread, knows, facts, decide(facts))
    const stopped = factsAt(approved, 1, away)
    await expect(recordAccess(unread, knows, stopped, decide(stopped))).rejects.toThrow('read')
  })
})
