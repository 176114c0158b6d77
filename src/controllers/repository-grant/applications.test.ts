// A grant for an Application: it waits for the Application, is bound to it by the approval, and ends with it, also while GitHub
// does not answer.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../api/apps/application.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { noAnswers } from '../../policy/grants/approvals.ts'
import { noGrantPolicies } from '../../policy/grants/grant-policies.ts'
import { grantObject, installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import { type NamedApplication, namedApplications } from './applications.ts'
import { decide } from './decide.ts'
import type { Facts, GitHubAnswer } from './gather.ts'
import { nextStatus } from './status.ts'

const now = new Date('2026-06-01T12:00:00Z')
const subjects = [{ kind: 'Application' as const, name: 'shop' }]
const { status: _status, ...fresh } = grantObject({ spec: { subjects } })
const found: GitHubAnswer = {
  kind: 'found',
  repositories: [{ id: 4001, name: 'acme/shop' }],
  missing: [],
  archived: [],
  requester: { kind: 'known', login: 'dave', permissions: new Map([[4001, 'write']]) },
}
const notDue: GitHubAnswer = { kind: 'not-due' }
const unreachable: GitHubAnswer = { kind: 'unreachable', message: 'GitHub answered 502', retryAfterSeconds: undefined }
const shop: NamedApplication = { name: 'shop', uid: 'u1', isolated: false }

function facts(object: RepositoryGrant, answer: GitHubAnswer, applications: readonly NamedApplication[]): Facts {
  const standing = { installation: installationObject, installationReady: true, halts: [], tenant: 'acme' }
  const rules = { policies: noGrantPolicies, answers: noAnswers, endedApprovals: [], memberships: new Map<string, boolean>() }
  return { ...standing, ...rules, object, answer, applications, askedAt: now }
}

function approved(): RepositoryGrant {
  const known = facts(fresh, found, [shop])
  return { ...fresh, status: nextStatus(known, decide(known)) }
}

describe('a grant for an Application', () => {
  test('is not decided before the Application is there', () => {
    const decision = decide(facts(fresh, notDue, [{ ...shop, uid: undefined }]))
    expect(decision).toMatchObject({
      ruling: undefined,
      approved: { status: 'Unknown', reason: 'ApplicationNotFound', message: expect.stringContaining('create it') },
      ready: { status: 'False', reason: 'ApplicationNotFound' },
    })
  })

  test('is bound to it by the approval, and says who can use it', () => {
    expect(approved().status).toMatchObject({ decision: 'Approved', applications: [{ name: 'shop', uid: 'u1' }] })
    expect(decide(facts(fresh, found, [shop])).approved.message).toContain(
      'The pods of Application shop can use it, and whoever may change that.',
    )
  })

  test.each([
    ['was deleted', { ...shop, uid: undefined }, 'ApplicationNotFound', 'u1'],
    ['was created again', { ...shop, uid: 'u2' }, 'ApplicationReplaced', 'delete the grant and create it again'],
    ['is isolated by now', { ...shop, isolated: true }, 'ApplicationIsolated', 'not trusted'],
  ] as const)('ends its tokens when the Application %s, whatever GitHub answers', (_what, application, reason, message) => {
    for (const answer of [found, notDue, unreachable]) {
      const known = facts(approved(), answer, [application])
      const decision = decide(known)
      expect(decision).toMatchObject({
        ready: { status: 'False', reason, message: expect.stringContaining(message) },
        revoke: true,
      })
      expect(nextStatus(known, decision)).toMatchObject({ decision: 'Approved', applications: [{ name: 'shop', uid: 'u1' }] })
    }
  })

  test('is bound for ever: another approval does not take over another Application', () => {
    const known = facts(approved(), found, [{ ...shop, uid: 'u2' }])
    expect(nextStatus(known, decide(known)).applications).toEqual([{ name: 'shop', uid: 'u1' }])
  })

  test('does not count an Application that is being deleted', () => {
    const leaving = { metadata: { uid: 'u1', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: {} } as Application
    expect(namedApplications(fresh, { get: () => leaving })).toEqual([{ name: 'shop', uid: undefined, isolated: false }])
    expect(namedApplications(grantObject(), { get: () => leaving })).toEqual([])
  })
})
