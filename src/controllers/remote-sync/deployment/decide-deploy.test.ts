import { describe, expect, test } from 'vitest'
import { type Application, application as kind } from '../../../api/apps/application.ts'
import { application, commit, condition, facts, now } from '../testing/remote-sync.ts'
import { applyImage } from './apply-image.ts'
import { decideDeploy, decideRollout, targetsOf } from './decide-deploy.ts'

const image = 'image@1'

describe('image and commit of the Application', () => {
  const deleted = { ...application(), metadata: { ...application().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const current = application({ image, commit })

  test.each<[string, Application | undefined, object]>([
    ['halt without an Application', undefined, { kind: 'halt', halt: { stage: 'Deployed', reason: 'ApplicationNotFound' } }],
    ['halt while it is being deleted', deleted, { kind: 'halt', halt: { reason: 'ApplicationNotFound' } }],
    ['are set the first time', application(), { kind: 'apply', application: application() }],
    ['are set for another image', application({ image: 'image@0', commit }), { kind: 'apply' }],
    ['are set for the same image of another commit', application({ image, commit: 'b'.repeat(40) }), { kind: 'apply' }],
    [
      'are not set on one that follows a tag',
      application({ image: 'ghcr.io/acme/shop:v1', followTag: true }),
      { kind: 'halt', halt: { reason: 'ApplicationFollowsTag', message: expect.stringContaining('"followTag":null') } },
    ],
    ['are left alone when both are set', current, { kind: 'keep', application: current }],
  ])('%s', (_what, found, expected) => {
    expect(decideDeploy(targetsOf(facts({ application: found }))[0], { image, commit, isPromoted: false })).toMatchObject(
      expected,
    )
  })
})

test('of an Application only image and commit are written, by its uid, and where the image came from', async () => {
  const applied: unknown[] = []
  const client = { apply: async (_: unknown, desired: unknown) => applied.push(desired) }
  const deps = { client } as unknown as Parameters<typeof applyImage>[0]
  const built = { image, commit, isPromoted: false }
  for (const more of [{}, { isPromoted: true }, { isRebased: true }])
    await applyImage(deps, application({ chart: 'other' }), { ...built, ...more })
  const wanted = (annotations?: object) => ({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-a', ...(annotations && { annotations }) },
    spec: { image, commit },
  })
  expect(applied).toEqual([wanted(), wanted({ 'sekisho.dev/promoted': commit }), wanted({ 'sekisho.dev/rebased': image })])
})

describe('the rollout', () => {
  const ready = (status: 'True' | 'False', reason = 'Test') => ({
    image,
    conditions: [condition('Ready', status, reason, 'says why')],
  })
  const rolled = application({}, { ...ready('True'), availableAt: '2026-01-01T11:59:00.000Z' })
  const rollingOut = { halted: { stage: 'Ready', reason: 'RollingOut', message: 'Application shop is rolling out' } }

  test.each<[string, Application, object]>([
    ['has ended: the time of the Application counts', rolled, { availableAt: '2026-01-01T11:59:00.000Z' }],
    ['has ended without a time: now', application({}, ready('True')), { availableAt: now.toISOString() }],
    ['is awaited without any condition', application({}, {}), rollingOut],
    ['is awaited while another image is ready', application({}, { ...ready('True'), image: 'image@0' }), rollingOut],
    [
      'is awaited while the condition is about an older spec',
      { ...rolled, metadata: { ...rolled.metadata, generation: 2 } },
      rollingOut,
    ],
    ['is awaited while it is in progress', application({}, ready('False', 'RollingOut')), rollingOut],
    [
      'is awaited while the release job runs',
      application({}, ready('False', 'ReleaseJobRunning')),
      { halted: { stage: 'Ready', reason: 'RollingOut', message: 'Application shop: ReleaseJobRunning: says why' } },
    ],
    [
      'does not begin while the Application is pinned to a release with another image',
      application({ pinnedRelease: 3 }, { ...ready('True', 'Pinned'), image: 'image@0' }),
      { halted: { stage: 'Ready', reason: 'Pinned', message: expect.stringContaining('"pinnedRelease":null') } },
    ],
    [
      'has ended when the pinned release has this image',
      application({ pinnedRelease: 3 }, ready('True', 'Pinned')),
      { availableAt: now.toISOString() },
    ],
    [
      'has a problem: the Application says which',
      application({}, ready('False', 'Crashing')),
      { halted: { stage: 'Ready', reason: 'ApplicationNotReady', message: 'Application shop: Crashing: says why' } },
    ],
  ])('%s', (_what, found, expected) => {
    expect(decideRollout(found, image, now)).toMatchObject(expected)
  })

  test.each([...kind.reasons].map(([name, reason]) => [name, reason.class] as const))('of an Application with %s', (name, of) => {
    const halted = { reason: of === 'progress' || of === 'machine' ? 'RollingOut' : 'ApplicationNotReady' }
    expect(decideRollout(application({}, ready('False', name)), image, now)).toMatchObject({ halted })
  })
})
