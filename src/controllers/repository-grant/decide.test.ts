// The decision on a RepositoryGrant: a row for each check, what keeps an approved grant valid, and the status that follows.

import { describe, expect, test } from 'vitest'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { RepositoryPermission } from '../../github/index.ts'
import { noAnswers } from '../../policy/grants/approvals.ts'
import { noGrantPolicies } from '../../policy/grants/grant-policies.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { grantObject, host, installationObject, ready } from '../../services/token-desk/testing/desk-objects.ts'
import { checks, repositoryChecks } from './checks.ts'
import { decide } from './decide.ts'
import type { Facts, GitHubAnswer } from './gather.ts'
import { isNewRuling, nextStatus } from './status.ts'

const now = new Date('2026-06-01T12:00:00Z')
const { status: _status, ...undecided } = grantObject()
const fresh: RepositoryGrant = undecided

type Answered = {
  readonly permission?: RepositoryPermission
  readonly ids?: readonly number[]
  readonly missing?: readonly number[]
  readonly archived?: readonly number[]
}

function found({ permission = 'write', ids = [4001], missing = [], archived = [] }: Answered = {}): GitHubAnswer {
  const requester = { kind: 'known', login: 'dave', permissions: new Map(ids.map(id => [id, permission])) } as const
  return { kind: 'found', repositories: ids.map(id => ({ id, name: `acme/${id}` })), missing, archived, requester }
}

function facts(change: Partial<Facts> = {}): Facts {
  return {
    object: fresh,
    installation: installationObject,
    installationReady: true,
    answer: found(),
    halts: [],
    policies: noGrantPolicies,
    answers: noAnswers,
    endedApprovals: [],
    memberships: new Map(),
    applications: [],
    tenant: 'acme',
    askedAt: now,
    ...change,
  }
}

function asking(spec: Partial<RepositoryGrant['spec']>): RepositoryGrant {
  return { ...fresh, spec: { ...fresh.spec, ...spec } }
}

const unreachable: GitHubAnswer = { kind: 'unreachable', message: 'GitHub answered 502', retryAfterSeconds: undefined }
const nobody: GitHubAnswer = { ...found(), requester: { kind: 'unknown' } } as GitHubAnswer

describe('the decision on a grant', () => {
  test('stays what it was while somebody halts it, and gives nothing', () => {
    const conditions = [{ ...ready(), type: 'Approved', reason: 'Approved' }, ready()]
    const approvedBefore = grantObject({ status: { conditions } })
    const halts = [haltObject({ type: 'Repository', repository: { host: 'github.localhost', id: 4001 } })]
    const decided = decide(facts({ object: approvedBefore, answer: { kind: 'not-due' }, halts }))
    expect(decided.ruling).toMatchObject({ rule: 'read-contents' })
    expect(decided.ready).toMatchObject({
      status: 'False',
      reason: 'Halted',
      message: expect.stringContaining('sekisho-system/stop'),
    })
    // The controller of the Halt revokes.
    expect(decided.revoke).toBe(false)
    const undecidedYet = decide(facts({ answer: { kind: 'not-due' }, halts: [haltObject({ type: 'Everything' })] }))
    expect(undecidedYet).toMatchObject({ ruling: undefined, approved: { status: 'Unknown', reason: 'Halted' } })
    expect(decide(facts({ object: approvedBefore, answer: { kind: 'not-due' } })).ready.reason).not.toBe('Halted')
  })

  test('approves what the requester has, and the ceiling and the policy allow', () => {
    expect(decide(facts())).toMatchObject({
      ruling: { decision: 'Approved' },
      approved: { status: 'True', reason: 'Approved' },
      ready: { status: 'True', reason: 'Approved' },
      revoke: false,
    })
  })

  test('says whom an approved grant serves', () => {
    expect(decide(facts()).approved.message).toContain('Everybody who can run a pod under the ServiceAccount runner')
    const forSync = asking({ subjects: [{ kind: 'RemoteSync', name: 'shop' }] })
    expect(decide(facts({ object: forSync })).approved.message).not.toContain('Everybody')
  })

  const narrow = {
    ...installationObject.spec,
    ceiling: { ...installationObject.spec.ceiling, permissions: { contents: 'read' } },
  } as const
  const rows: readonly (readonly [string, string, string, Partial<Facts>])[] = [
    [
      'a level that contents do not have',
      'levels-exist',
      'UnknownPermissionLevel',
      { object: asking({ permissions: { contents: 'admin' } }), answer: found({ permission: 'admin' }) },
    ],
    [
      'a level that workflows do not have',
      'levels-exist',
      'UnknownPermissionLevel',
      { object: asking({ permissions: { contents: 'read', workflows: 'read' } }) },
    ],
    ['a missing repository', 'repositories-exist', 'RepositoryNotFound', { answer: { kind: 'missing', names: ['acme/nope'] } }],
    [
      'a name that means another repository than the one that people were asked about',
      'repositories-are-those-asked',
      'RepositoryReplaced',
      {
        object: { ...fresh, status: { requestedRepositories: [{ id: 4002, name: 'acme/4001' }] } },
        answer: found({ permission: 'admin' }),
      },
    ],
    [
      'a level above the ceiling',
      'permissions-within-ceiling',
      'AboveCeiling',
      {
        object: asking({ permissions: { contents: 'write' } }),
        installation: { ...installationObject, spec: narrow },
        answer: found({ permission: 'admin' }),
      },
    ],
    [
      'a permission that the ceiling does not have',
      'permissions-within-ceiling',
      'AboveCeiling',
      { object: asking({ permissions: { repository_projects: 'admin' } }), answer: found({ permission: 'admin' }) },
    ],
    ['a certificate as requester', 'requester-is-known', 'RequesterUnknown', { answer: { kind: 'no-person' } }],
    ['a person GitHub does not know', 'requester-is-known', 'RequesterUnknown', { answer: nobody }],
    ['a repository above the ceiling', 'repositories-within-ceiling', 'AboveCeiling', { answer: found({ ids: [4001, 9] }) }],
    [
      'writing in an archived repository',
      'repositories-take-writes',
      'RepositoryArchived',
      { object: asking({ permissions: { statuses: 'write' } }), answer: found({ archived: [4001] }) },
    ],
    ['a requester without access', 'requester-has-access', 'RequesterLacksAccess', { answer: found({ permission: 'none' }) }],
    [
      'a reader who requests write',
      'requester-has-access',
      'RequesterLacksAccess',
      { object: asking({ permissions: { contents: 'write' } }), answer: found({ permission: 'read' }) },
    ],
  ]
  test.each(rows)('denies %s by the rule %s', (_case, rule, reason, change) => {
    expect(decide(facts(change))).toMatchObject({
      ruling: { decision: 'Denied', rule },
      approved: { status: 'False', reason },
      ready: { status: 'False', reason },
      revoke: true,
    })
  })

  test('has a row above for every check, in this order', () => {
    const rules = [...new Set(rows.map(([, rule]) => rule))]
    expect(rules).toEqual([
      'levels-exist',
      'repositories-exist',
      'repositories-are-those-asked',
      'permissions-within-ceiling',
      'requester-is-known',
      'repositories-within-ceiling',
      'repositories-take-writes',
      'requester-has-access',
    ])
    // That a repository of an approved grant is gone is the rule `repositories-exist`, too.
    expect(rules).toHaveLength(checks.length + repositoryChecks.length - 1)
  })

  test('names the permission and its levels', () => {
    const { ready } = decide(facts({ object: asking({ permissions: { workflows: 'read' } }) }))
    expect(ready.message).toBe('GitHub does not have workflows: read; the levels of workflows are: write')
  })

  test('says how another person makes the request: for a grant of a RemoteSync by the command that takes it over', () => {
    const denied = { answer: found({ permission: 'none' as const }) }
    expect(decide(facts(denied)).ready.message).toContain('delete the grant, and let that person create it again')
    const object = asking({})
    const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'RemoteSync', name: 'shop', uid: 'u', controller: true }
    const owned = { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }
    const { message } = decide(facts({ ...denied, object: owned })).ready
    expect(message).toContain('sekisho transfer remotesync/shop')
    expect(message).toContain(`kubectl patch remotesync shop -n ${object.metadata.namespace} --type merge`)
  })

  test.each([
    ['none', false, false],
    ['read', true, false],
    ['triage', true, false],
    ['write', true, true],
    ['maintain', true, true],
    ['admin', true, true],
  ] as const)('the role %s has read access: %s, write access: %s', (permission, reads, writes) => {
    const denied = (level: 'read' | 'write'): boolean =>
      decide(facts({ object: asking({ permissions: { contents: level } }), answer: found({ permission }) })).ruling?.rule ===
      'requester-has-access'
    expect([!denied('read'), !denied('write')]).toEqual([reads, writes])
  })

  test('demands access to every repository of the grant', () => {
    const answer = found({ ids: [4001, 4002] })
    if (answer.kind !== 'found' || answer.requester.kind !== 'known') throw new Error('found')
    const requester = { ...answer.requester, permissions: new Map([[4001, 'admin'] as const]) }
    expect(decide(facts({ answer: { ...answer, requester } })).ruling?.rule).toBe('requester-has-access')
  })

  test('denies what no policy rule allows', () => {
    const object = asking({ permissions: { contents: 'write' } })
    expect(decide(facts({ object }))).toMatchObject({
      ruling: { decision: 'Denied', rule: 'no-rule-allows' },
      ready: { status: 'False', reason: 'DeniedByPolicy' },
    })
  })
})

describe('a grant that was approved', () => {
  const approved: RepositoryGrant = { ...fresh, status: nextStatus(facts(), decide(facts())) }
  const later = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000)

  test('gets ids, an end and the time of the decision', () => {
    expect(approved.status).toMatchObject({
      decision: 'Approved',
      repositories: [{ id: 4001, name: 'acme/4001' }],
      decidedAt: now.toISOString(),
      checkedAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 86_400_000).toISOString(),
    })
  })

  test('keeps its status when GitHub was not asked', () => {
    const again = facts({ object: approved, answer: { kind: 'not-due' }, askedAt: later(5) })
    expect(isNewRuling(again, decide(again))).toBe(false)
    expect(nextStatus(again, decide(again))).toEqual(approved.status)
  })

  test('changes neither its end nor its decision when it is checked again', () => {
    const again = facts({ object: approved, askedAt: later(60) })
    const status = nextStatus(again, decide(again))
    expect(status).toEqual({ ...approved.status, checkedAt: later(60).toISOString() })
  })

  test.each<readonly [string, string, Partial<Facts>]>([
    ['it expired', 'Expired', { answer: { kind: 'not-due' }, askedAt: later(24 * 60) }],
    ['the Installation is not ready', 'InstallationNotReady', { answer: { kind: 'not-due' }, installationReady: false }],
    ['the requester lost access', 'RequesterLacksAccess', { answer: found({ permission: 'none' }) }],
    ['the repository left the installation', 'RepositoryNotFound', { answer: { kind: 'missing', names: ['acme/shop'] } }],
    [
      'GitHub did not answer for a day',
      'GitHubUnreachable',
      { answer: unreachable, askedAt: later(24 * 60 - 1), object: lateChecked() },
    ],
  ])('no longer holds, and its tokens end, when %s', (_case, reason, change) => {
    const decision = decide(facts({ object: approved, ...change }))
    expect(decision).toMatchObject({ ready: { status: 'False', reason }, revoke: true })
  })

  function lateChecked(): RepositoryGrant {
    return { ...approved, status: { ...approved.status, checkedAt: later(-2).toISOString() } }
  }

  test('keeps holding while GitHub does not answer for less than a day', () => {
    const decision = decide(facts({ object: approved, answer: unreachable, askedAt: later(600) }))
    expect(decision).toMatchObject({
      ruling: { decision: 'Approved' },
      ready: { status: 'True', reason: 'GitHubUnreachable' },
      revoke: false,
    })
  })

  test('holds again, with the same end, when its Installation is ready again', () => {
    const away = facts({ object: approved, answer: { kind: 'not-due' }, installationReady: false })
    const stopped: RepositoryGrant = { ...approved, status: nextStatus(away, decide(away)) }
    const back = facts({ object: stopped, answer: { kind: 'not-due' }, askedAt: later(10) })
    const status = nextStatus(back, decide(back))
    expect(decide(back).ready).toMatchObject({ status: 'True', reason: 'Approved' })
    expect(status.expiresAt).toBe(approved.status?.expiresAt)
  })
})

describe('a grant that was never decided', () => {
  test('is neither approved nor denied while GitHub does not answer', () => {
    const decision = decide(facts({ answer: unreachable }))
    expect(decision).toMatchObject({
      ruling: undefined,
      approved: { status: 'Unknown' },
      ready: { status: 'Unknown' },
      revoke: false,
    })
    expect(nextStatus(facts({ answer: unreachable }), decision).decision).toBeUndefined()
  })

  test('waits for its Installation', () => {
    const decision = decide(facts({ answer: { kind: 'not-due' }, installation: undefined, installationReady: false }))
    expect(decision).toMatchObject({ ruling: undefined, ready: { status: 'False', reason: 'InstallationNotReady' } })
  })

  test(`shows the login of its requester on ${host}, which decides nothing: ids count`, () => {
    const { requester, ...rest } = nextStatus(facts(), decide(facts()))
    expect(requester).toEqual({ login: 'dave' })
    expect(JSON.stringify(rest)).not.toContain('dave')
  })

  test('keeps the login that it knows while GitHub is not asked', () => {
    const known: RepositoryGrant = { ...facts().object, status: nextStatus(facts(), decide(facts())) }
    const rest = facts({ object: known, answer: { kind: 'not-due' } })
    expect(nextStatus(rest, decide(rest)).requester).toEqual({ login: 'dave' })
  })
})
