// A grant of several repositories goes on without those that ended, and what the log says of it: each change once.
import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { RepositoryPermission } from '../../github/index.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { grantObject, installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import { decide } from './decide.ts'
import type { Facts, GitHubAnswer } from './gather.ts'
import { accessRecords, recordAccess } from './records/record-access.ts'
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
  const standing = { installation: installationObject, installationReady: true, halts: [], tenant: 'acme' }
  return { object, ...standing, answer: found(), askedAt, ...change }
}

/** What one reconcile makes of it: the object with its next status, the records, and the decision. */
function reconciled(object: RepositoryGrant, minute: number, change: Partial<Facts> = {}) {
  const facts = factsAt(object, minute, change)
  const decision = decide(facts)
  const next: RepositoryGrant = { ...object, status: nextStatus(facts, decision) }
  return {
    next,
    decision,
    records: accessRecords(facts, decision).map(({ action, outcome, details }) => [
      action,
      outcome,
      details.repositoryIds,
      details.cause,
    ]),
  }
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

  test('is recorded once when the process dies before the status, and again the next time that it happens', async () => {
    const log: AuditRecord[] = []
    const audit = {
      appendOnce: async (record: AuditRecord, isRecorded: (earlier: readonly AuditEntry[]) => boolean) => {
        if (
          !isRecorded(
            log.filter(({ action }) => action === record.action).toReversed() as readonly AuditRecord[] as readonly AuditEntry[],
          )
        )
          log.push(record)
      },
    }
    const run = async (object: RepositoryGrant, minute: number, change: Partial<Facts>) => {
      const facts = factsAt(object, minute, change)
      const decision = decide(facts)
      for (const record of accessRecords(facts, decision)) await recordAccess(audit, record)
      return { ...object, status: nextStatus(facts, decision) }
    }
    await run(approved, 1, away)
    const stopped = await run(approved, 2, away)
    expect(log.map(({ outcome }) => outcome)).toEqual(['denied'])
    const back = await run(stopped, 3, { answer: { kind: 'not-due' } })
    await run(back, 4, away)
    expect(log.map(({ outcome }) => outcome)).toEqual(['denied', 'allowed', 'denied'])
  })
})
