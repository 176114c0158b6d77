// When GitHub is asked, and what its failures mean.
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { githubReasons } from '../../github/index.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { decide, haltOf, mustList } from './decide.ts'
import { facts, known, now, pipeline } from './testing/app-pipeline.ts'

describe('a failure', () => {
  test.each<[string, AppError, string, number | undefined]>([
    ['no answer in time', new AppError('unavailable', 'GitHub did not answer within 15000 ms'), 'GitHubUnreachable', undefined],
    ['an answer that is not a list', new AppError('upstream_failed', 'x'), 'GitHubUnreachable', undefined],
    ['another repository', new AppError('integrity_violation', 'x'), 'GitHubUnreachable', undefined],
    [
      'a limit that names its end',
      new AppError('too_many_requests', 'x', { retryAfterSeconds: 7, reason: githubReasons.rateLimited }),
      'GitHubUnreachable',
      7000,
    ],
    [
      'the pace of the platform',
      new AppError('too_many_requests', 'x', { retryAfterSeconds: 10, reason: githubReasons.paced }),
      'PacedByPlatform',
      10_000,
    ],
    ['a limit without an end', new AppError('too_many_requests', 'x'), 'GitHubUnreachable', undefined],
    ['a refused token', new AppError('forbidden', 'x'), 'WaitingForGrant', undefined],
    ['no grant', new AppError('not_found', 'x'), 'WaitingForGrant', undefined],
    [
      'a repository that is gone',
      new AppError('not_found', 'x', { reason: 'RepositoryNotFound' }),
      'RepositoryNotFound',
      undefined,
    ],
  ])('%s is reported and retried', (_what, error, reason, requeueAfterMilliseconds) => {
    const halt = haltOf(error)
    expect(halt).toMatchObject({ reason, ...(requeueAfterMilliseconds === undefined ? { error } : { requeueAfterMilliseconds }) })
  })

  test('has a bounded text', () => {
    expect(haltOf(new AppError('unavailable', 'x'.repeat(10_000))).message).toHaveLength(500)
  })

  test.each([new KubeError('x', { status: 409, reason: 'Conflict' }), new TypeError('a defect')])(
    'of another kind is not hidden',
    error => {
      expect(() => haltOf(error)).toThrow(error)
    },
  )
})

describe('GitHub is asked for the list', () => {
  const listed = (changes: object = {}): AppPipeline['status'] => ({
    observedGeneration: 1,
    conditions: [
      {
        ...{ type: 'Listed', status: 'True', reason: 'Listed', message: '', lastTransitionTime: now.toISOString() },
        ...{ observedGeneration: 1, ...changes },
      },
    ],
  })
  const asked = (of: AppPipeline, list: ReturnType<typeof known> | null = known([])) =>
    mustList({ ...facts(), pipeline: of, known: list ?? undefined }, 300_000)

  test('after a restart, a new spec, a webhook, a failure, and at the periodic check', () => {
    const rested = pipeline({}, listed())
    expect(asked(rested)).toBe(false)
    expect(asked(rested, null)).toBe(true)
    expect(asked(pipeline({}, { ...listed(), observedGeneration: 0 }))).toBe(true)
    expect(asked({ ...rested, metadata: { ...rested.metadata, annotations: { [wakeAnnotation]: 'w' } } })).toBe(true)
    expect(asked(pipeline({}, listed({ status: 'False', reason: 'GitHubUnreachable' })))).toBe(true)
    expect(asked(rested, known([], { listedAt: new Date(now.getTime() - 300_000) }))).toBe(true)
  })

  test('not because a list is too long: it would be as long again', () => {
    expect(asked(pipeline({}, listed({ status: 'False', reason: 'TooManyPullRequests' })))).toBe(false)
  })

  test('not through an Installation that is suspended or gone', () => {
    expect(decide(facts())).toMatchObject({ reason: 'InstallationNotReady' })
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Suspended', message: 'suspended on GitHub' }]
    const suspended = decide({ ...facts(), installation: { status: { conditions } } as never })
    expect(suspended).toMatchObject({ reason: 'InstallationNotReady', message: expect.stringContaining('suspended on GitHub') })
  })
})
