import { expect, test } from 'vitest'
import { githubReasons } from '../../github/index.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { sourceReasons } from '../../services/builds/source-store/reasons.ts'
import { haltOf, isPermanent } from './halt.ts'

const error = (code: ConstructorParameters<typeof AppError>[0], options: ConstructorParameters<typeof AppError>[2] = {}) =>
  new AppError(code, 'a message', options)

test.each<[string, AppError, object, 'retried' | 'not retried']>([
  [
    'a commit that is too large',
    error('upstream_failed', { reason: 'SourceTooLarge' }),
    { reason: 'SourceTooLarge' },
    'not retried',
  ],
  [
    'a commit that does not exist',
    error('upstream_failed', { reason: 'CommitNotFound' }),
    { reason: 'CommitNotFound' },
    'not retried',
  ],
  [
    'a limit of GitHub',
    error('too_many_requests', { retryAfterSeconds: 7, reason: githubReasons.rateLimited }),
    { reason: 'GitHubUnreachable', requeueAfterMilliseconds: 7000 },
    'not retried',
  ],
  [
    'the pace of the platform',
    error('too_many_requests', { retryAfterSeconds: 10, reason: githubReasons.paced }),
    { reason: 'PacedByPlatform', requeueAfterMilliseconds: 10_000 },
    'not retried',
  ],
  [
    'the quota of the tenant',
    error('too_many_requests', { retryAfterSeconds: 60, reason: 'QuotaExceeded' }),
    { reason: 'PacedByPlatform', requeueAfterMilliseconds: 60_000 },
    'not retried',
  ],
  [
    'a server error of GitHub',
    error('unavailable', { retryAfterSeconds: 5, reason: 'GitHubUnreachable' }),
    { reason: 'GitHubUnreachable' },
    'retried',
  ],
  ['a revoked grant', error('forbidden'), { reason: 'WaitingForGrant' }, 'retried'],
  ['a failed fetch', error('unavailable', { reason: 'FetchFailed' }), { reason: 'FetchFailed' }, 'retried'],
  ['GitHub being down', error('upstream_failed'), { reason: 'GitHubUnreachable' }, 'retried'],
])('%s halts', (_what, thrown, expected, retry) => {
  const halted = haltOf('Fetched', thrown)
  expect(halted).toMatchObject({ stage: 'Fetched', message: 'a message', ...expected })
  if (retry === 'retried') expect(halted.error).toBe(thrown)
  else expect(halted).not.toHaveProperty('error')
})

test.each([new TypeError('a defect'), new KubeError('x', { status: 500, reason: 'InternalError' })])(
  '%s is thrown on',
  thrown => {
    expect(() => haltOf('Resolved', thrown)).toThrow(thrown)
  },
)

test('only what the commit itself causes is permanent', () => {
  const said = [...Object.values(githubReasons), ...Object.values(sourceReasons), '']
  const { fetchFailed, ...permanent } = sourceReasons
  expect(said.filter(reason => isPermanent({ reason }))).toEqual(Object.values(permanent))
})
