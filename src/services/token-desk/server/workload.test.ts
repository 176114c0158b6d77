// Which workloads are identified, and what git receives.
import { describe, expect, test } from 'vitest'
import type { Pod, TokenReview } from '../../../api/builtin/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { credentialAnswer, readCredentialRequest, repositoryOfPath } from './git-credential.ts'
import { isPodActive, readReview } from './workload.ts'

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

describe('the review of a workload’s token', () => {
  test('is accepted when it belongs to a ServiceAccount, has our audience and is bound to a pod', () => {
    expect(readReview(good)).toMatchObject({
      namespace: 'acme',
      serviceAccount: 'runner',
      serviceAccountUid: 'runner-uid',
      podUid: 'pod-uid',
    })
  })

  test.each<readonly [string, Status]>([
    ['not authenticated, although with a user', { ...good, authenticated: false }],
    ['without a statement about authentication', { audiences: ['sekisho'], ...(good.user ? { user: good.user } : {}) }],
    ['of another audience', { ...good, audiences: ['https://kubernetes.default.svc'] }],
    ['without audiences', { authenticated: true, ...(good.user ? { user: good.user } : {}) }],
    ['of a person', { ...good, user: { ...good.user, username: 'github|github.com|7' } }],
    ['of a node', { ...good, user: { ...good.user, username: 'system:node:n1' } }],
    ['of a name with more parts', { ...good, user: { ...good.user, username: 'system:serviceaccount:acme:runner:x' } }],
    ['without uid', { ...good, user: { ...good.user, uid: '' } }],
    ['not bound to a pod', { ...good, user: { ...good.user, extra: {} } }],
  ])('is refused when it is %s', (_case, status) => {
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

  test('is active while it is the same pod and runs', () => {
    expect(isPodActive(pod, token)).toBe(true)
    expect(isPodActive({ ...pod, status: { phase: 'Pending' } }, token)).toBe(true)
  })

  test.each<readonly [string, Pod | undefined]>([
    ['gone', undefined],
    ['another pod of that name', { ...pod, metadata: { ...pod.metadata, uid: 'other' } }],
    ['being deleted', { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['finished', { ...pod, status: { phase: 'Succeeded' } }],
    ['failed', { ...pod, status: { phase: 'Failed' } }],
    ['of unknown state', { ...pod, status: {} }],
    ['run by another ServiceAccount', { ...pod, spec: { serviceAccountName: 'other', containers: [] } }],
  ])('is not active when it is %s', (_case, present) => {
    expect(isPodActive(present, token)).toBe(false)
  })
})

describe('the git credential protocol', () => {
  test('reads the request of git and writes an answer', () => {
    expect(readCredentialRequest('protocol=https\nhost=github.com\npath=acme/shop.git\n\n')).toEqual({
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
      expect(() => readCredentialRequest(text)).toThrow(AppError)
    },
  )

  test('never writes a second line through a value', () => {
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
