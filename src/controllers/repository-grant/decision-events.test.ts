// That a decision about a grant is an Event of it: of the usual type for an approval, a warning for a denial, and none when
// nothing new was decided.
import { expect, test } from 'vitest'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { noAnswers } from '../../policy/grants/approvals.ts'
import { noGrantPolicies } from '../../policy/grants/grant-policies.ts'
import { grantObject, installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import { createStatusWriter } from '../kit/status-writer.ts'
import { decide } from './decide.ts'
import type { Facts, GitHubAnswer } from './gather.ts'
import { nextStatus } from './status.ts'

const { status: _status, ...undecided } = grantObject()

test('a decision is an Event of the grant, once', async () => {
  const recorded: string[] = []
  const writer = createStatusWriter({
    type: repositoryGrant,
    fieldManager: 'tests',
    client: { applyStatus: async (_type: unknown, object: unknown) => object as never },
    cache: { get: () => undefined },
    events: { record: (_object, { type, reason }) => void recorded.push(`${type} ${reason}`) },
  })
  const reconcile = async (object: RepositoryGrant, answer: GitHubAnswer): Promise<RepositoryGrant> => {
    const askedAt = new Date('2026-06-01T12:00:00Z')
    const facts: Facts = {
      object,
      installation: installationObject,
      installationReady: true,
      answer,
      askedAt,
      halts: [],
      policies: noGrantPolicies,
      answers: noAnswers,
      endedApprovals: [],
      memberships: new Map(),
      applications: [],
      tenant: 'acme',
    }
    return writer.write(object, nextStatus(facts, decide(facts)))
  }
  const found = (permission: 'write' | 'none'): GitHubAnswer => ({
    kind: 'found',
    repositories: [{ id: 4001, name: 'acme/shop' }],
    missing: [],
    archived: [],
    requester: { kind: 'known', login: 'dave', permissions: new Map([[4001, permission]]) },
  })
  const approved = await reconcile(undecided, found('write'))
  await reconcile(approved, { kind: 'not-due' })
  await reconcile(approved, found('none'))
  expect(recorded).toEqual(['Normal Approved', 'Warning RequesterLacksAccess'])
})
