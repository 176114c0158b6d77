// The checks on an Installation, one row each, and the status that follows: a refuted binding ends tokens, an unknown one keeps
// what held.
import { describe, expect, test } from 'vitest'
import type { Installation, StandIn } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'
import { defined } from '../../lib/json/defined.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import { decide } from './decide.ts'
import type { Facts, InstallationAnswer } from './facts.ts'
import type { OwnerAnswer } from './owner-check.ts'
import { nextStatus } from './status.ts'

const askedAt = new Date('2026-01-02T12:00:00Z')

const object = (overrides: Partial<Installation['spec']> = {}, status?: Installation['status']): Installation => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'github', namespace: 'acme', generation: 1, uid: 'u' },
  spec: {
    app: 'default',
    installationId: 7,
    account: { host: 'github.com', id: 2001, login: 'acme', type: 'Organization' },
    boundBy: { id: 1001, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
    ...overrides,
  },
  ...defined({ status }),
})

const onGitHub = (overrides: Partial<InstallationFacts> = {}): InstallationFacts => ({
  id: 7,
  appId: 5,
  account: { id: 2001, login: 'acme', type: 'Organization' },
  suspendedAt: undefined,
  repositorySelection: 'all',
  permissions: { contents: 'write' },
  ...overrides,
})

const found = (overrides: Partial<InstallationFacts> = {}): InstallationAnswer => ({
  kind: 'found',
  installation: onGitHub(overrides),
  owner: { kind: 'owner' },
  appId: 5,
})
const facts = (answer: InstallationAnswer, of: Installation = object()): Facts => ({ object: of, answer, askedAt })
const unreachable: InstallationAnswer = { kind: 'unreachable', message: 'no answer', retryAfterSeconds: 90 }

const user = object({
  account: { host: 'github.com', id: 1001, login: 'olivia', type: 'User' },
  proof: { method: 'AccountHolder', provedAt: '2026-01-01T00:00:00Z' },
})
const userAccount = found({ account: { id: 1001, login: 'olivia', type: 'User' } })

describe('an Installation', () => {
  const table: readonly (readonly [string, Facts, 'True' | 'False' | 'Unknown', string])[] = [
    ['holds when everything fits', facts(found()), 'True', 'Verified'],
    ['of a person’s own account holds', facts(userAccount, user), 'True', 'Verified'],
    ['does not hold without its App', facts({ kind: 'app-not-ready', message: 'x' }), 'False', 'AppNotReady'],
    ['is unknown while GitHub does not answer', facts(unreachable), 'Unknown', 'GitHubUnreachable'],
    ['does not hold when GitHub does not know it', facts({ kind: 'absent' }), 'False', 'InstallationNotFound'],
    ['does not hold for another App', facts(found({ appId: 6 })), 'False', 'AppMismatch'],
    [
      'does not hold on another account',
      facts(found({ account: { id: 9, login: 'acme', type: 'Organization' } })),
      'False',
      'AccountMismatch',
    ],
    [
      'does not hold on a person with the organisation’s id',
      facts(found({ account: { id: 2001, login: 'acme', type: 'User' } })),
      'False',
      'AccountMismatch',
    ],
    [
      'does not hold when another person bound a person’s account',
      facts(userAccount, object({ account: user.spec.account, proof: user.spec.proof, boundBy: { id: 1002, login: 'dave' } })),
      'False',
      'AccountMismatch',
    ],
    [
      'does not hold with a proof that fits another type',
      facts(userAccount, object({ account: user.spec.account })),
      'False',
      'AccountMismatch',
    ],
    ['does not hold while suspended', facts(found({ suspendedAt: askedAt })), 'False', 'InstallationSuspended'],
    [
      'does not hold above what GitHub grants',
      facts(found({ permissions: { metadata: 'read' } })),
      'False',
      'CeilingAboveGitHub',
    ],
    [
      'does not hold when the owner left',
      facts({ kind: 'found', installation: onGitHub(), owner: { kind: 'not-owner', message: 'x' }, appId: 5 }),
      'False',
      'BinderNoLongerOwner',
    ],
    [
      'holds when the App may not check the owner',
      facts({ kind: 'found', installation: onGitHub(), owner: { kind: 'not-checkable' }, appId: 5 }),
      'True',
      'Verified',
    ],
  ]
  test.each<readonly [string, Facts, string]>([
    [
      'an installation that is gone',
      facts({ kind: 'absent' }),
      'GitHub knows no installation of ClusterGitHubApp default on acme with the id 7: install the App again and onboard again',
    ],
    [
      'another App',
      facts(found({ appId: 6 })),
      'the installation belongs to the App with the id 6, not to ClusterGitHubApp default (id 5)',
    ],
    [
      'another account',
      facts(found({ account: { id: 9, login: 'globex', type: 'Organization' } })),
      'the installation is on the Organization globex (id 9), not on the Organization acme (id 2001)',
    ],
    [
      'a proof that does not fit',
      facts(userAccount, object({ account: user.spec.account, proof: user.spec.proof, boundBy: { id: 1002, login: 'dave' } })),
      'the proof AccountHolder by dave (id 1002) proves nothing about the User olivia (id 1001)',
    ],
  ])('names, beside their ids, what is wrong: %s', (_name, given, message) => {
    expect(decide(given).ready.message).toBe(message)
  })

  test.each(table)('%s', (_name, given, status, reason) => {
    const decision = decide(given)
    expect(decision.verified).toMatchObject({ status, reason })
    expect(decision.ready).toMatchObject({ status, reason })
    expect(decision.revoke).toBe(status === 'False')
  })

  describe('when the one who bound it left', () => {
    const dave = { id: 1002, login: 'dave' }
    const standIns = [{ ...dave, proof: { method: 'OrganizationOwner' as const, provedAt: '2026-01-01T00:00:00Z' } }]
    const answered = (owner: OwnerAnswer): InstallationAnswer => ({
      ...{ kind: 'found', installation: onGitHub(), owner, appId: 5 },
    })
    const asked = facts(answered({ kind: 'stand-in', standIn: dave }), object({ standIns }))
    const status = nextStatus(asked, decide(asked))
    const later = (answer: InstallationAnswer, spec: Partial<Installation['spec']>) => facts(answer, object(spec, status))

    test('holds while somebody who stands in owns the account, and says who, also when nobody is asked', () => {
      const says = expect.stringContaining('olivia (id 1001) does not own acme any more, dave (id 1002) stands in')
      expect(decide(asked)).toMatchObject({ ready: { status: 'True', reason: 'Verified', message: says }, revoke: false })
      expect(status).toMatchObject({ ownerCheckedAt: askedAt.toISOString(), standIn: dave })
      const { conditions: _, ...unsaid } = status
      const again = facts(answered({ kind: 'not-due' }), object({ standIns }, { ...unsaid, conditions: [] }))
      expect(decide(again).ready).toMatchObject({ status: 'True', message: says })
      expect(nextStatus(later(answered({ kind: 'not-due' }), { standIns }), decide(asked))).toEqual(status)
    })

    test('ends at once when that person stands in no more, also while GitHub does not answer', () => {
      for (const answer of [answered({ kind: 'not-due' }), unreachable]) {
        expect(decide(later(answer, { standIns }))).toMatchObject({ ready: { status: 'True' }, revoke: false })
        const ended = { ready: { status: 'False', reason: 'BinderNoLongerOwner' }, revoke: true }
        expect(decide(later(answer, {}))).toMatchObject(ended)
        expect(decide(later(answer, { standIns: [{ ...standIns[0], id: 1003 } as StandIn] }))).toMatchObject(ended)
      }
      expect(decide(later(unreachable, {})).requeueAfterMilliseconds).toBe(90_000)
      expect(nextStatus(later(unreachable, {}), decide(later(unreachable, {})))).toMatchObject({ standIn: dave })
    })

    test('is answered for by the one who bound it as soon as that one is an owner again, and by nobody when none is', () => {
      const back = later(answered({ kind: 'owner' }), { standIns })
      expect(nextStatus(back, decide(back))).not.toHaveProperty('standIn')
      const lost = later(answered({ kind: 'not-owner', message: 'x' }), { standIns })
      expect(decide(lost).revoke).toBe(true)
      expect(nextStatus(lost, decide(lost))).toMatchObject({ ownerLostAt: askedAt.toISOString() })
      expect(nextStatus(lost, decide(lost))).not.toHaveProperty('standIn')
    })
  })

  const held = nextStatus(facts(found()), decide(facts(found())))
  const ready = (status: Installation['status']) => decide(facts(unreachable, object({}, status))).ready

  test('stays ready for a day when GitHub does not answer, and no longer', () => {
    expect(ready({ ...held, verifiedAt: '2026-01-02T00:00:00Z' })).toMatchObject({ status: 'True', reason: 'GitHubUnreachable' })
    expect(ready({ ...held, verifiedAt: '2026-01-01T11:59:59Z' })).toMatchObject({ status: 'Unknown' })
    expect(ready(undefined)).toMatchObject({ status: 'Unknown' })
    expect(decide(facts(unreachable)).requeueAfterMilliseconds).toBe(90_000)
  })

  test('is retried where nothing would wake it', () => {
    expect(decide(facts({ kind: 'app-not-ready', message: 'refused' })).requeueAfterMilliseconds).toBe(120_000)
    expect(decide(facts({ kind: 'absent' })).requeueAfterMilliseconds).toBeUndefined()
    // GitHub may not know a new one yet; one that it knew is gone.
    const made = (secondsAgo: number, status?: Installation['status']) => {
      const creationTimestamp = new Date(askedAt.getTime() - secondsAgo * 1000).toISOString()
      const one = object({}, status)
      return decide(facts({ kind: 'absent' }, { ...one, metadata: { ...one.metadata, creationTimestamp } }))
    }
    expect(made(60)).toMatchObject({ requeueAfterMilliseconds: 5000, ready: { status: 'False', reason: 'InstallationNotFound' } })
    expect(made(120).requeueAfterMilliseconds).toBeUndefined()
    expect(made(60, held).requeueAfterMilliseconds).toBeUndefined()
  })

  test('has the same status when the same is found again without an owner check', () => {
    const again: Facts = {
      ...facts({ kind: 'found', installation: onGitHub(), owner: { kind: 'not-due' }, appId: 5 }, object({}, held)),
      askedAt: new Date('2026-01-02T12:10:00Z'),
    }
    expect(sameJson(nextStatus(again, decide(again)), held)).toBe(true)
  })

  test('keeps the time of its last confirmation while it does not hold', () => {
    const lost = facts({ kind: 'absent' }, object({}, held))
    expect(nextStatus(lost, decide(lost))).toMatchObject({ verifiedAt: askedAt.toISOString(), appId: 5 })
  })
})
