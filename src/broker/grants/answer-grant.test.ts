// Each way in which a person may not answer for a grant on the page, and what is recorded and written when they may.
import { describe, expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import type { GrantApproval } from '../../api/github/grant-approval.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { type AnswerGrantDeps, type AnswerRequest, answerGrant } from './answer-grant.ts'

const [olivia, dave] = ['github|github.test|1001', 'github|github.test|1002']
const uid = '0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11'

const grant = (metadata: object = {}, decision = 'Waiting', isLooked = true) =>
  ({
    metadata: { name: 'publish', namespace: 'acme', uid, ...metadata },
    spec: { installation: 'github', requestedBy: dave },
    status: { decision, ...(isLooked ? { requestedRepositories: [{ id: 4001, name: 'acme/shop' }] } : {}) },
  }) as unknown as RepositoryGrant

type World = {
  readonly grant?: RepositoryGrant
  readonly admins?: readonly string[]
  readonly host?: string | undefined
  readonly halts?: readonly Halt[]
  readonly refused?: KubeError
}

function world(given: World = {}) {
  const records: AuditRecord[] = []
  const created: GrantApproval[] = []
  const { grant: of = grant(), admins = [olivia, dave], host = 'github.test', halts = [], refused } = given
  const deps: AnswerGrantDeps = {
    grants: {
      find: async (_who, namespace, name) => {
        if (namespace !== 'acme' || name !== 'publish') throw new AppError('not_found', 'there is no such RepositoryGrant')
        return of
      },
      mayAnswer: async ({ subject }, namespace) => namespace === 'acme' && admins.includes(subject),
    },
    installations: { get: () => (host === undefined ? undefined : ({ spec: { account: { host } } } as never)) },
    halts: { list: () => halts },
    kube: {
      create: (async (_type: unknown, object: GrantApproval) => {
        // The log has it first.
        expect(records.at(-1)?.outcome).toBe('allowed')
        if (refused !== undefined) throw refused
        created.push(object)
        return object
      }) as never,
    },
    audit: { append: (async (record: AuditRecord) => void records.push(record)) as never },
    log: silentLog,
  }
  return { deps, records, created }
}

const request = (change: Partial<AnswerRequest> = {}): AnswerRequest => ({
  identity: { subject: olivia, groups: [] },
  login: 'olivia',
  namespace: 'acme',
  name: 'publish',
  uid,
  answer: 'Approve',
  reason: 'the release needs it',
  lifetime: 'day',
  ...change,
})

test('an admin who did not request it answers in their own name, and the log has it first', async () => {
  for (const answer of ['Approve', 'Deny'] as const) {
    const { deps, records, created } = world()
    await answerGrant(deps, request({ answer }))
    expect(created.map(({ spec }) => spec)).toEqual([
      {
        ...{ grant: { name: 'publish', uid }, answer, reason: 'the release needs it', via: 'Page', requestedBy: olivia },
        lifetimeSeconds: 86_400,
      },
    ])
    expect(records).toMatchObject([
      {
        action: 'grant.answered',
        actor: olivia,
        namespace: 'acme',
        object: 'RepositoryGrant/acme/publish',
        outcome: 'allowed',
        reason: 'the release needs it',
        details: {
          ...{ login: 'olivia', grantUid: uid, answer, via: 'Page' },
          ...(answer === 'Approve' ? { lifetimeSeconds: 86_400 } : {}),
        },
      },
    ])
  }
})

const ofPerson = (id: number, namespace: string) => {
  const object = haltObject({ type: 'Person', person: { host: 'github.test', id } })
  return { ...object, metadata: { ...object.metadata, namespace } }
}

describe('nothing is written, and the log says so, for', () => {
  test.each<[string, World, Partial<AnswerRequest>, string]>([
    ['a developer', { admins: [] }, {}, 'only admins of the tenant'],
    ['the requester, who is an admin too', {}, { identity: { subject: dave, groups: [] } }, 'you requested publish'],
    ['a person of another GitHub', { host: 'other.test' }, {}, 'the repositories of publish are not there'],
    ['a grant without an Installation', { host: undefined }, {}, 'the repositories of publish are not there'],
    ['who is halted by the tenant', { halts: [ofPerson(1001, 'acme')] }, {}, 'you are halted'],
    ['who is halted by the platform', { halts: [ofPerson(1001, 'sekisho-system')] }, { answer: 'Deny' }, 'you are halted'],
    [
      'what is no person',
      { admins: ['system:serviceaccount:acme:bot'] },
      { identity: { subject: 'system:serviceaccount:acme:bot', groups: [] } },
      'only a person',
    ],
  ])('%s', async (_who, given, change, message) => {
    // The default takes the place of an undefined host.
    const { deps, records, created } = world(given)
    const refusing = 'host' in given && given.host === undefined ? { ...deps, installations: { get: () => undefined } } : deps
    await expect(answerGrant(refusing, request(change))).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(message),
    })
    expect(created).toEqual([])
    expect(records).toMatchObject([{ action: 'grant.answered', outcome: 'denied', reason: expect.stringContaining(message) }])
  })

  test.each<[string, RepositoryGrant, Partial<AnswerRequest>]>([
    ['a grant that was created again', grant(), { uid: '0a5e1f7c-3b1d-4c62-9f0e-000000000000' }],
    ['a grant without a UID', grant({ uid: undefined }), {}],
    ['one that is being deleted', grant({ deletionTimestamp: '2026-01-01T00:00:00Z' }), {}],
    ['one that was approved meanwhile', grant({}, 'Approved'), {}],
    ['one that was denied meanwhile', grant({}, 'Denied'), { answer: 'Deny' }],
    ['one whose repositories nobody has looked up yet', grant({}, 'Waiting', false), {}],
  ])('nor for %s', async (_what, of, change) => {
    const { deps, records, created } = world({ grant: of })
    await expect(answerGrant(deps, request(change))).rejects.toMatchObject({ code: 'conflict' })
    expect([created, records]).toEqual([[], []])
  })

  test('nor for who does not see it, and the log is not written', async () => {
    const { deps, records } = world()
    await expect(answerGrant(deps, request({ namespace: 'globex' }))).rejects.toMatchObject({ code: 'not_found' })
    expect(records).toEqual([])
  })

  test('a Halt of somebody else, or in another tenant, stops nobody', async () => {
    const { deps, created } = world({ halts: [ofPerson(1002, 'acme'), ofPerson(1001, 'globex')] })
    await answerGrant(deps, request())
    expect(created).toHaveLength(1)
  })
})

test.each([
  [403, 'Forbidden', 'forbidden'],
  [422, 'Invalid', 'forbidden'],
  [500, 'InternalError', 'unavailable'],
])('what the API server refuses with %i is recorded, and not called done', async (status, reason, code) => {
  const { deps, records } = world({ refused: new KubeError('exceeded quota', { status, reason }) })
  await expect(answerGrant(deps, request())).rejects.toMatchObject({ code })
  expect(records.map(({ outcome }) => outcome)).toEqual(['allowed', 'failed'])
})

test('without an answer of the API server it is not said that nothing was stored', async () => {
  const { deps, records } = world({ refused: new KubeError('no answer', { status: 0, reason: 'Silent' }) })
  await expect(answerGrant(deps, request())).rejects.toMatchObject({ code: 'unavailable' })
  expect(records.map(({ outcome }) => outcome)).toEqual(['allowed'])
})
