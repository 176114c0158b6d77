import { describe, expect, test } from 'vitest'
import type { Pod, TokenReview } from '../../api/builtin/index.ts'
import { AppError } from '../../lib/errors.ts'
import { credentialAnswer, readQuestion, repositoryOfPath } from './git-credential.ts'
import { isPodAlive, readReview } from './workload.ts'

type Status = NonNullable<TokenReview['status']>

const extra = {
  'authentication.kubernetes.io/pod-name': ['job-1'],
  'authentication.kubernetes.io/pod-uid': ['pod-uid'],
}
const good: Status = {
  authenticated: true,
  audiences: ['sekisho'],
  user: { username: 'system:serviceaccount:acme:runner', uid: 'runner-uid', groups: ['system:serviceaccounts'], extra },
}

describe('what the API server says of a workload’s token', () => {
  test('is read when it is a ServiceAccount’s, meant for us and bound to a pod', () => {
    expect(readReview(good)).toMatchObject({
      namespace: 'acme',
      serviceAccount: 'runner',
      serviceAccountUid: 'runner-uid',
      podUid: 'pod-uid',
    })
  })

  test.each<readonly [string, Status]>([
    ['not authenticated, although with a user', { ...good, authenticated: false }],
    ['silent about authentication', { audiences: ['sekisho'], ...(good.user ? { user: good.user } : {}) }],
    ['of another audience', { ...good, audiences: ['https://kubernetes.default.svc'] }],
    ['without audiences', { authenticated: true, ...(good.user ? { user: good.user } : {}) }],
    ['a person', { ...good, user: { ...good.user, username: 'github|github.com|7' } }],
    ['a node', { ...good, user: { ...good.user, username: 'system:node:n1' } }],
    ['a name with more parts', { ...good, user: { ...good.user, username: 'system:serviceaccount:acme:runner:x' } }],
    ['without uid', { ...good, user: { ...good.user, uid: '' } }],
    ['bound to no pod', { ...good, user: { ...good.user, extra: {} } }],
  ])('counts for nothing when it is %s', (_case, status) => {
    expect(readReview(status)).toBeUndefined()
  })
})

describe('the pod behind a token', () => {
  const token = readReview(good)
  if (token === undefined) throw new Error('the good review must be read')
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'job-1', namespace: 'acme', uid: 'pod-uid' },
    spec: { serviceAccountName: 'runner', containers: [] },
    status: { phase: 'Running' },
  }

  test('is alive while it is the same one and runs', () => {
    expect(isPodAlive(pod, token)).toBe(true)
    expect(isPodAlive({ ...pod, status: { phase: 'Pending' } }, token)).toBe(true)
  })

  test.each<readonly [string, Pod | undefined]>([
    ['gone', undefined],
    ['another pod of that name', { ...pod, metadata: { ...pod.metadata, uid: 'other' } }],
    ['being deleted', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['finished', { ...pod, status: { phase: 'Succeeded' } }],
    ['failed', { ...pod, status: { phase: 'Failed' } }],
    ['of unknown state', { ...pod, status: {} }],
    ['run by another ServiceAccount', { ...pod, spec: { serviceAccountName: 'other', containers: [] } }],
  ])('is not alive when it is %s', (_case, present) => {
    expect(isPodAlive(present, token)).toBe(false)
  })
})

describe('the git credential protocol', () => {
  test('reads what git asks and answers in its words', () => {
    expect(readQuestion('protocol=https\nhost=github.com\npath=acme/shop.git\n\n')).toEqual({
      protocol: 'https',
      host: 'github.com',
      path: 'acme/shop.git',
    })
    const answer = credentialAnswer({ token: 'ghs_a.b-c_d', expiresAt: new Date(1_800_000_000_000) })
    expect(answer).toBe('username=x-access-token\npassword=ghs_a.b-c_d\npassword_expiry_utc=1800000000\n')
  })

  test.each(['', 'protocol=https', 'host=github.com', 'no equals sign\nhost=x', 'protocol=https\r\nhost=github.com\r\n'])(
    'refuses %j',
    text => {
      expect(() => readQuestion(text)).toThrow(AppError)
    },
  )

  test('never hands git a second line through a value', () => {
    expect(() => credentialAnswer({ token: 'a\nhost=evil', expiresAt: new Date() })).toThrow('line break')
  })

  test.each([
    ['acme/shop.git', 'acme/shop'],
    ['/acme/shop', 'acme/shop'],
    ['acme/shop.git/', 'acme/shop'],
  ])('takes the repository from the path %s', (path, repository) => {
    expect(repositoryOfPath(path)).toBe(repository)
  })
})
