import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAppError } from '../../lib/errors.ts'
import { parseGitHubEvent, reduceDelivery } from './github-event.ts'

const repository = { id: 5, full_name: 'acme/shop' }
const installation = { id: 9, app_id: 5, account: { id: 7 } }
const sender = { id: 1 }
const organization = { id: 7, login: 'acme' }
const bodies = {
  ping: { zen: 'Keep it logically awesome.', hook_id: 1 },
  push: { ref: 'refs/heads/feature/x', before: 'a', after: 'b', repository, installation, sender },
  pull_request: { action: 'opened', number: 3, pull_request: { id: 1 }, repository, installation, sender },
  pull_request_review: { action: 'submitted', review: { id: 2 }, pull_request: { number: 3 }, repository, installation, sender },
  issue_comment: {
    action: 'created',
    issue: { number: 3 },
    comment: { body: '/sekisho approve' },
    repository,
    installation,
    sender,
  },
  installation: { action: 'created', installation, sender, requester: { id: 1003 }, repositories: [repository] },
  installation_repositories: {
    action: 'added',
    installation,
    sender,
    repositories_added: [repository],
    repositories_removed: [],
  },
  installation_target: { action: 'renamed', account: { id: 7 }, installation, changes: {}, target_type: 'Organization' },
  github_app_authorization: { action: 'revoked', sender },
  organization: { action: 'member_removed', organization, membership: { user: { id: 1002 } }, sender },
  membership: { action: 'removed', team: { id: 11 }, member: { id: 1003 }, organization, scope: 'team', sender },
  member: { action: 'added', member: { id: 1 }, repository, organization, sender },
  team: { action: 'deleted', team: { id: 11 }, organization, sender },
  repository: { action: 'renamed', repository, organization, changes: {}, sender },
} as const
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const names = Object.keys(bodies) as (keyof typeof bodies)[]

test.each(names)('a %s is parsed from its own body', name => {
  expect(parseGitHubEvent(name, bytes(bodies[name])).event).toBe(name)
})

test.each(names.flatMap(claimed => names.filter(real => real !== claimed).map(real => [claimed, real] as const)))(
  'the header %s on the body of a %s is refused',
  (claimed, real) => {
    expect(() => parseGitHubEvent(claimed, bytes(bodies[real]))).toThrow('header and body must agree')
  },
)

test.each(['star', 'constructor', '__proto__'])('%s, which has no shape here, passes', name => {
  expect(parseGitHubEvent(name, bytes(bodies.push))).toMatchObject({ event: name, branch: undefined })
})

test('what is kept of a body reads the same as the body', () => {
  for (const name of names) {
    const { event, kept } = reduceDelivery(name, bytes(bodies[name]))
    expect(parseGitHubEvent(name, kept)).toEqual(event)
    expect(event).toEqual(parseGitHubEvent(name, bytes(bodies[name])))
  }
})

test('what is kept of any body reads the same as the body, whatever event the header names', () => {
  const fields = ['action', 'ref', 'before', 'after', 'zen', 'number', 'installation', 'requester', 'organization', 'repository']
  const others = [
    'sender',
    'pull_request',
    'repositories_added',
    'changes',
    'account',
    'team',
    'member',
    'membership',
    'review',
    'issue',
    'comment',
    'commits',
    '__proto__',
  ]
  const value = fc.oneof(fc.jsonValue(), fc.constant({ id: 3 }), fc.constant(repository), fc.constant('refs/heads/main'))
  const outcome = (name: string, body: Buffer): unknown => {
    try {
      return parseGitHubEvent(name, body)
    } catch (error) {
      return isAppError(error, 'invalid_request') ? 'refused' : error
    }
  }
  const body = fc.dictionary(fc.constantFrom(...fields, ...others), value)
  fc.assert(
    fc.property(fc.constantFrom(...names, 'star'), body, (name, json) => {
      const { kept } = reduceDelivery('star', bytes(json))
      expect(outcome(name, kept)).toEqual(outcome(name, bytes(json)))
    }),
  )
})

test('texts that people wrote into a push are not kept', () => {
  const commits = [{ message: 'a secret plan', author: { email: 'dave@example.com' }, added: ['plan.md'] }]
  const { kept } = reduceDelivery('push', bytes({ ...bodies.push, commits, pusher: { name: 'dave' }, head_commit: commits[0] }))
  expect(JSON.parse(kept.toString())).toEqual({
    ref: 'refs/heads/feature/x',
    before: 'a',
    after: 'b',
    repository,
    installation: { id: 9, app_id: 5 },
    sender,
  })
})

test('what people wrote on a pull request is not kept', () => {
  const said = { body: '/sekisho approve', user: { login: 'dave' } }
  const { kept } = reduceDelivery(
    'issue_comment',
    bytes({ ...bodies.issue_comment, issue: { number: 3, title: 'x' }, comment: said }),
  )
  expect(JSON.parse(kept.toString())).toEqual({
    action: 'created',
    repository,
    installation: { id: 9, app_id: 5 },
    sender,
    issue: { number: 3 },
    comment: {},
  })
  const review = reduceDelivery('pull_request_review', bytes({ ...bodies.pull_request_review, review: said }))
  expect(review.kept.toString()).not.toContain('approve')
})

test('the fields of an event are read from the body', () => {
  expect(parseGitHubEvent('push', bytes(bodies.push))).toMatchObject({
    branch: 'feature/x',
    repository: { id: 5, fullName: 'acme/shop' },
    installationId: 9,
    senderId: 1,
  })
  expect(parseGitHubEvent('push', bytes({ ...bodies.push, ref: 'refs/tags/v1' })).branch).toBeUndefined()
  const { kept } = reduceDelivery('push', bytes({ ...bodies.push, repository: { ...repository, default_branch: 'trunk' } }))
  expect(parseGitHubEvent('push', kept).defaultBranch).toBe('trunk')
  for (const name of ['pull_request', 'pull_request_review', 'issue_comment'] as const)
    expect(parseGitHubEvent(name, bytes(bodies[name])).pullRequest, name).toBe(3)
  expect(parseGitHubEvent('push', bytes({ ...bodies.push, number: 3 })).pullRequest).toBeUndefined()
  expect(parseGitHubEvent('installation', bytes(bodies.installation))).toMatchObject({ requesterId: 1003, appId: 5 })
  expect(parseGitHubEvent('membership', bytes(bodies.membership)).memberId).toBe(1003)
  expect(parseGitHubEvent('organization', bytes(bodies.organization)).memberId).toBe(1002)
  expect(parseGitHubEvent('installation_target', bytes(bodies.installation_target)).organizationId).toBe(7)
  // The membership is that of the person who renamed it, whom the event does not concern.
  expect(parseGitHubEvent('organization', bytes({ ...bodies.organization, action: 'renamed' })).memberId).toBeUndefined()
})

test('any bytes are an event or an invalid_request, never anything else', () => {
  const anyBody = fc.oneof(
    fc.uint8Array().map(array => Buffer.from(array)),
    fc.json().map(text => Buffer.from(text)),
  )
  fc.assert(
    fc.property(fc.constantFrom(...names, 'unknown'), anyBody, (name, body) => {
      try {
        expect(parseGitHubEvent(name, body).event).toBe(name)
      } catch (error) {
        expect(isAppError(error, 'invalid_request')).toBe(true)
      }
    }),
  )
})
