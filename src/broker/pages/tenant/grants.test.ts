// The page of grants that wait: what somebody needs to answer is there, the form is for who may, and what others wrote is text.
import { describe, expect, test } from 'vitest'
import type { GrantApproval } from '../../../api/github/grant-approval.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { GrantsView } from '../../grants/visible-grants.ts'
import { noAccess } from '../../tenants/access.ts'
import type { TenantView } from '../../tenants/visible-tenants.ts'
import { everything } from '../state/choice.ts'
import { grantsPage, waitingGrantsSection } from './grants.ts'

const [olivia, dave, mia] = ['github|github.com|1001', 'github|github.com|1002', 'github|github.com|1003']
const person = { host: 'github.com', userId: 1001, login: 'olivia', subject: olivia, csrf: 'secret-of-the-form' }
const hostile = '"><script>alert(1)</script>\'&'

const grant = (spec: object = {}, name = 'publish') =>
  ({
    metadata: { name, namespace: 'acme', uid: 'uid-of-the-grant', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      installation: 'github',
      repositories: ['acme/shop'],
      permissions: { contents: 'read', pull_requests: 'write' },
      subjects: [{ kind: 'ServiceAccount', name: 'release' }],
      delivery: 'GitProxy',
      reason: 'the release pipeline reads the tags',
      requestedBy: dave,
      ...spec,
    },
    status: {
      decision: 'Waiting',
      rule: 'GrantPolicy/releases/two-look-at-it',
      approvals: { required: 3, given: 1 },
      requestedRepositories: [{ id: 4001, name: 'acme/shop' }],
      requester: { login: 'dave' },
    },
  }) as unknown as RepositoryGrant

const answer = (change: object = {}, conditions: readonly object[] = [{ type: 'Ready', status: 'True', reason: 'Counted' }]) =>
  ({
    metadata: { name: 'a' },
    spec: { answer: 'Approve', reason: 'reviewed', requestedBy: mia, ...change },
    status: { conditions },
  }) as unknown as GrantApproval

function shown(change: Partial<GrantsView> = {}, of = grant(), answers: readonly GrantApproval[] = [answer()]): string {
  const view: GrantsView = {
    waiting: { items: [{ grant: of, answers }], more: false },
    mayAnswer: true,
    logins: new Map([[mia, 'mia']]),
    ...change,
  }
  return grantsPage({ person, namespace: 'acme', view }).toString()
}

describe('the page', () => {
  test('says in words what is asked, for whom, by whom, why, by which rule, and how many are missing', () => {
    const text = shown()
    for (const part of [
      'contents: read, pull_requests: write',
      '(id 4001)',
      'ServiceAccount release',
      'get no token',
      '<strong>dave</strong>',
      dave,
      'the release pipeline reads the tags',
      'GrantPolicy/releases/two-look-at-it',
      '1 of 3, 2 missing',
      '<strong>mia</strong>',
      'reviewed',
    ])
      expect(text).toContain(part)
  })

  test('says which refs a push may change, where the grant names some', () => {
    expect(shown({}, grant({ git: { refs: ['refs/tags/v*', hostile] } }))).toContain('a push may change')
    expect(shown({}, grant({ git: { refs: ['refs/tags/v*', hostile] } }))).not.toContain('<script>')
    expect(shown()).not.toContain('a push may change')
  })

  test('has the form for an admin, with the UID that is shown and the secret of the session', () => {
    const text = shown()
    expect(text).toContain('action="/tenants/acme/grants/answer"')
    expect(text).toContain('name="uid" value="uid-of-the-grant"')
    expect(text).toContain('name="csrf" value="secret-of-the-form"')
    expect(text).toContain('value="Approve"')
    expect(text).toContain('value="Deny"')
    expect(text).not.toContain('checked')
  })

  test.each<[string, string, RegExp]>([
    ['who may not', shown({ mayAnswer: false }), /An admin of the tenant who did not request it/],
    ['the requester, also as an admin', shown({}, grant({ requestedBy: olivia })), /You requested it: another admin/],
  ])('has no form for %s, and says why', (_who, text, why) => {
    expect(text).not.toContain('<form method="post" action="/tenants')
    expect(text).not.toContain('value="Approve"')
    expect(text).toMatch(why)
  })

  test('does not show answers to who may not see them, and says which do not count', () => {
    expect(shown({ waiting: { items: [{ grant: grant() }], more: false } })).toContain('You may not see the answers')
    expect(shown({}, grant(), [])).toContain('nobody yet')
    const halted = answer({ breakGlass: true }, [
      { type: 'Ready', status: 'False', reason: 'PersonHalted', message: 'mia is halted' },
    ])
    const text = shown({}, grant(), [halted])
    expect(text).toContain('by break-glass')
    expect(text).toContain('Does not count: mia is halted')
  })

  test('does not load itself again: what somebody writes stays', () => {
    expect(shown()).not.toContain('data-refresh')
    expect(shown()).not.toContain('http-equiv="refresh"')
  })

  test('what people wrote is text, and long lists end', () => {
    const bad = grant({ reason: hostile, subjects: [{ kind: 'ServiceAccount', name: hostile }], repositories: [hostile] })
    const text = shown({ logins: new Map([[mia, hostile]]) }, bad, [answer({ reason: hostile })])
    expect(text).not.toContain('<script>')
    const many = Array.from({ length: 200 }, (_, index) => answer({ reason: `reason-${index}` }))
    expect(shown({}, grant(), many).match(/reason-\d/g)).toHaveLength(20)
    expect(shown({ waiting: { items: [], more: false } })).toContain('No grant waits for approval')
    expect(shown({ waiting: { items: [{ grant: grant() }], more: true } })).toContain('sekisho grants list --waiting')
  })
})

test('the page of the tenant lists them, and offers an answer to who may', () => {
  const place = { namespace: 'acme', web: 'https://github.com', choice: everything }
  const text = (view: Partial<TenantView>) => waitingGrantsSection(place, { access: noAccess, ...view } as TenantView)?.toString()
  expect(text({})).toBeUndefined()
  expect(text({ waitingGrants: { items: [], more: false } })).toBeUndefined()
  const waitingGrants = { items: [grant()], more: false }
  expect(text({ waitingGrants })).toContain('Look at them</a>')
  expect(text({ waitingGrants, access: { ...noAccess, answerGrants: true } })).toContain('Look at them and answer</a>')
  expect(text({ waitingGrants })).toContain('1 of 3, 2 missing')
})
