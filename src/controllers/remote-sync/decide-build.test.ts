import { describe, expect, test } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { BuildState, OwnedBuild } from '../../services/builds/builder.ts'
import { namedPrograms } from './application-facts.ts'
import { type BuildAction, decideBuild, decideFetchFailure, planBuild, type WantedBuild } from './decide-build.ts'
import { buildName } from './desired.ts'
import { type BuildFacts, existingApplications, type Facts } from './gather.ts'
import type { RemoteSyncStatus } from './status.ts'
import { application, commit, facts, now, sync } from './testing/remote-sync.ts'

const first = buildName(sync(), commit, 1)
const second = buildName(sync(), commit, 2)
const time = now.toISOString()

describe('the build plan', () => {
  const build = { name: first, commit, attempt: 1 }
  const failure = { stage: 'Fetched' as const, reason: 'SourceTooLarge', message: 'too large' }

  test.each<[string, RemoteSyncStatus, boolean, object]>([
    ['builds a new commit', {}, false, { kind: 'build', attempt: 1, name: first }],
    [
      'keeps the image of a commit that was built, also when woken',
      { build, image: 'i', imageBuild: first },
      true,
      { kind: 'keepImage', image: 'i' },
    ],
    [
      'waits with a commit that failed, for the recorded reason',
      { build, failedCommit: commit, failure },
      false,
      { kind: 'wait', halt: failure },
    ],
    [
      'waits with a commit that failed without a record',
      { build, failedCommit: commit },
      false,
      { kind: 'wait', halt: { stage: 'Built', reason: 'BuildFailed' } },
    ],
    [
      'retries a commit that failed when something changed',
      { build, failedCommit: commit },
      true,
      { kind: 'build', attempt: 2, name: second },
    ],
    [
      'goes on with an attempt that was begun',
      { build: { ...build, attempt: 2 } },
      false,
      { kind: 'build', attempt: 2, name: second },
    ],
    [
      'ignores the failure of another commit',
      { build: { ...build, commit: 'b' }, failedCommit: 'b' },
      false,
      { kind: 'build', attempt: 1 },
    ],
    ['ignores an image of other inputs', { build, image: 'i', imageBuild: 'shop-other' }, false, { kind: 'build' }],
  ])('%s', (_what, status, retry, expected) => {
    expect(planBuild(facts(), status, commit, retry)).toMatchObject(expected)
  })

  test('names the build in the status and clears an earlier failure; a failure that still applies stays', () => {
    const failed = { commit, build, failedCommit: commit, failure }
    const programs = namedPrograms(existingApplications(facts()))
    expect(planBuild(facts(), failed, commit, true).status).toEqual({
      commit,
      build: { name: second, commit, attempt: 2, programs },
    })
    expect(planBuild(facts(), failed, commit, false).status).toEqual(failed)
  })
})

test('a commit that failed is built again when the Application names other commands, and one that was built is not', () => {
  const before = facts()
  const process = { name: 'web', command: ['node', 'x.js'], replicas: 1, cpu: '50m', memory: '64Mi' }
  const after = facts({ application: application({ processes: [process] }) })
  const { status: begun } = planBuild(before, {}, commit, false)
  const failed = { ...begun, failedCommit: commit }
  expect(planBuild(before, failed, commit, false).kind).toBe('wait')
  expect(planBuild(after, failed, commit, false)).toMatchObject({ kind: 'build', attempt: 2, name: second })
  expect(planBuild(after, { ...begun, image: 'i', imageBuild: first }, commit, false)).toMatchObject({ kind: 'keepImage' })
  const old = { build: { name: first, commit, attempt: 1 }, failedCommit: commit }
  expect(planBuild(after, old, commit, false).kind).toBe('wait')
})

const phases = { fetchedAt: '2026-01-01T11:00:00.000Z', buildCreatedAt: '2026-01-01T11:00:01.400Z' }
const wanted: WantedBuild = { kind: 'build', name: first, commit, attempt: 1, status: { commit, phases } }
const deadline = new Date(now.getTime() + 60_000)

const running = { kind: 'running', step: 'detect', needsSource: false, deadline } as const
const failed = {
  kind: 'failed',
  step: 'build',
  detail: 'npm failed',
  sourceUnread: false,
  registryRefused: false,
  registryUnreachable: false,
} as const
const timedOut = { kind: 'timed-out', detail: 'it was in step build after 600 s' } as const
const succeeded = { kind: 'succeeded', image: 'image@1', proof: { kind: 'proven', commit } } as const

const owned = (name: string, ended: boolean): OwnedBuild => ({ key: { namespace: 'acme-build', name }, ended })
const keys = (...names: string[]) => names.map(name => ({ namespace: 'acme-build', name }))

function decideOn(
  state: BuildState,
  more: { wanted?: Partial<WantedBuild>; build?: Partial<BuildFacts>; facts?: Partial<Facts> } = {},
): BuildAction {
  return decideBuild(
    facts(more.facts),
    { ...wanted, ...more.wanted },
    { state, sourceMissing: false, builds: [], now, ...more.build },
  )
}

describe('the action for a build', () => {
  test.each<[string, BuildAction, object]>([
    [
      'absent: start, and cancel what still runs for older commits',
      decideOn({ kind: 'absent' }, { build: { builds: [owned('newer', false), owned(first, false), owned('ended', true)] } }),
      { kind: 'start', cancel: keys('newer'), status: { commit, phases } },
    ],
    [
      'absent, and no Application to build for: wait',
      decideOn({ kind: 'absent' }, { facts: { application: undefined } }),
      { kind: 'wait', status: { commit, phases }, halt: { stage: 'Fetched', reason: 'ApplicationNotFound' } },
    ],
    [
      'running: wait until its deadline',
      decideOn(running),
      {
        kind: 'wait',
        halt: {
          stage: 'Built',
          reason: 'Building',
          message: `build ${first} is in step detect`,
          requeueAfterMilliseconds: 60_000,
        },
      },
    ],
    [
      'no node has room: that, instead of a step',
      decideOn({ ...running, unscheduled: true }),
      {
        kind: 'wait',
        halt: { reason: 'Building', message: expect.stringMatching(/waits until a node has room.*spec\.build\.resources/) },
      },
    ],
    [
      'running beyond its deadline: check again in a second',
      decideOn({ ...running, deadline: new Date(now.getTime() - 5) }),
      { kind: 'wait', halt: { requeueAfterMilliseconds: 1000 } },
    ],
    [
      'running without the source that it still has to read: fetch again',
      decideOn({ ...running, step: 'prepare', needsSource: true }, { build: { sourceMissing: true } }),
      { kind: 'fetchAgain', build: { name: first, commit }, halt: { stage: 'Built', reason: 'Building' } },
    ],
    [
      'failed: record it for the commit',
      decideOn(failed),
      {
        kind: 'recordFailure',
        cancel: [],
        status: {
          failedCommit: commit,
          failure: { stage: 'Built', reason: 'BuildFailed', message: 'step build failed: npm failed\n(fix it and push again)' },
        },
        halt: { stage: 'Built', reason: 'BuildFailed' },
      },
    ],
    [
      'failed without its source: retry under the next attempt, after two seconds',
      decideOn({ ...failed, step: 'prepare', sourceUnread: true }),
      {
        kind: 'retryBuild',
        status: { build: { name: second, commit, attempt: 2 } },
        halt: { stage: 'Fetched', reason: 'Fetching', requeueAfterMilliseconds: 2000 },
      },
    ],
    [
      'failed without its source again: retry more slowly',
      decideOn({ ...failed, sourceUnread: true }, { wanted: { attempt: 2 } }),
      { kind: 'retryBuild', status: { build: { attempt: 3 } }, halt: { requeueAfterMilliseconds: 4000 } },
    ],
    [
      'failed without its source three times: record it, and the platform is at fault',
      decideOn({ ...failed, sourceUnread: true }, { wanted: { attempt: 3 } }),
      { kind: 'recordFailure', halt: { reason: 'BuildFailed', message: expect.stringContaining('ask a platform admin') } },
    ],
    [
      'timed out: cancel it and record it',
      decideOn(timedOut),
      {
        kind: 'cancelAndFail',
        cancel: keys(first),
        status: { failedCommit: commit, failure: { stage: 'Built', reason: 'BuildTimedOut' } },
        halt: { reason: 'BuildTimedOut', message: expect.stringContaining('it was in step build after 600 s') },
      },
    ],
    [
      'succeeded: use the image, and delete all but two of the ended builds before it',
      decideOn(succeeded, { build: { builds: ['a', 'b', 'c', 'd', first].map(name => owned(name, true)) } }),
      {
        kind: 'useImage',
        image: 'image@1',
        commit,
        cancel: keys('c', 'd'),
        status: { image: 'image@1', imageCommit: commit, imageBuild: first, phases: { builtAt: time } },
      },
    ],
    [
      'an image that names another commit: do not use it',
      decideOn({ ...succeeded, proof: { kind: 'proven', commit: 'f'.repeat(40) } }),
      {
        kind: 'recordFailure',
        halt: { stage: 'Built', reason: 'BuiltFromWrongCommit', message: expect.stringContaining('it is not used') },
      },
    ],
    [
      'an image that names no commit: do not use it',
      decideOn({ ...succeeded, proof: { kind: 'absent', message: 'no label' } }),
      {
        kind: 'recordFailure',
        halt: { stage: 'Built', reason: 'CommitNotProven', message: expect.stringContaining('no label') },
      },
    ],
    [
      'an image that cannot be read now: retry, and record no failure',
      decideOn({ ...succeeded, proof: { kind: 'unreadable', message: 'the registry is away' } }),
      { kind: 'wait', status: { commit }, halt: { reason: 'RegistryUnreachable', error: expect.any(AppError) } },
    ],
    [
      'failed because the token server of the registry did not answer: another attempt',
      decideOn({ ...failed, step: 'export', registryUnreachable: true }),
      { kind: 'retryBuild', status: { build: { attempt: 2 } }, halt: { message: expect.stringContaining('token server') } },
    ],
    [
      'failed for want of a registry credential: the platform is at fault, and the message says so',
      decideOn({ ...failed, step: 'export', registryRefused: true }),
      { kind: 'recordFailure', halt: { message: expect.stringContaining('the image registry refused the credential') } },
    ],
  ])('%s', (_what, action, expected) => {
    expect(action).toMatchObject(expected)
  })

  test('an image of another commit never reaches the status', () => {
    const proof = { kind: 'proven', commit: 'f'.repeat(40) } as const
    expect(decideOn({ ...succeeded, proof }).status).not.toHaveProperty('image')
  })

  test.each<[string, RemoteSyncStatus['phases'], BuildState, RemoteSyncStatus['phases']]>([
    [
      'the times of a build that was created before a crash are those of its discovery',
      undefined,
      running,
      { fetchedAt: time, buildCreatedAt: time },
    ],
    ['the recorded times stay', phases, running, phases],
    [
      'the start of the build is recorded',
      phases,
      { ...running, startedAt: '2026-01-01T11:00:05Z' },
      { ...phases, buildStartedAt: '2026-01-01T11:00:05.000Z' },
    ],
    [
      'a start before the creation, because of whole seconds, is the creation',
      phases,
      { ...running, startedAt: '2026-01-01T11:00:01Z' },
      { ...phases, buildStartedAt: phases.buildCreatedAt },
    ],
    [
      'the start is recorded once',
      { ...phases, buildStartedAt: 'before' },
      { ...running, startedAt: '2026-01-01T11:00:05Z' },
      { ...phases, buildStartedAt: 'before' },
    ],
  ])('%s', (_what, before, state, after) => {
    const status: RemoteSyncStatus = before === undefined ? { commit } : { commit, phases: before }
    expect(decideOn(state, { wanted: { status } }).status.phases).toEqual(after)
  })
})

describe('a failed fetch', () => {
  test('that every retry would meet again is recorded for the commit', () => {
    const error = new AppError('upstream_failed', 'x'.repeat(5000), { reason: 'SourceTooLarge' })
    const { status, halted } = decideFetchFailure({ commit }, commit, error)
    expect(halted).toMatchObject({ stage: 'Fetched', reason: 'SourceTooLarge' })
    expect(status).toEqual({
      commit,
      failedCommit: commit,
      failure: { stage: 'Fetched', reason: 'SourceTooLarge', message: 'x'.repeat(2048) },
    })
  })

  test('of another cause leaves the status alone and is retried', () => {
    const error = new AppError('unavailable', 'down', { reason: 'FetchFailed' })
    expect(decideFetchFailure({ commit }, commit, error)).toMatchObject({
      status: { commit },
      halted: { reason: 'FetchFailed', error },
    })
  })
})
