// When an image is rebased, and what comes of it, with everything outside replaced by fakes; kpack itself is in test/e2e.
import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { defined } from '../../../lib/json/defined.ts'
import { before, type Fakes, finalized, named, reconcile } from '../testing/reconcile-once.ts'
import { application, commit, condition, sync } from '../testing/remote-sync.ts'

const [older = '', newer = '', newest = ''] = ['a', 'b', 'c'].map(letter => `sha256:${letter.repeat(64)}`)
const [image, other]: readonly [string, string] = ['registry.example.com/acme/shop@1', 'registry.example.com/acme/shop@2']
const site = 'registry.example.com/acme/site@1'
const imageBuilder = { name: 'sekisho', stack: 'base' }
const on = (runImage: string) => ({ ...imageBuilder, runImage })

describe('an image whose builder has a newer run image', () => {
  const ready = { image, conditions: [condition('Ready', 'True')] }
  const runs = application({ image, commit }, ready)
  const built = { commit, image, imageCommit: commit, imageBuild: named, imageBuilder, runImage: older }
  const status: NonNullable<RemoteSync['status']> = { ...built, observedGeneration: 1 }
  const remoteSync = sync({}, { metadata: finalized, status })
  const { runImage: _, ...unrecorded } = status
  const { imageBuilder: _builder, ...ofUnknown } = status
  const withStatus = (more: object): Fakes => ({ remoteSync: sync({}, { metadata: finalized, status: { ...status, ...more } }) })
  // Its labels, which code of a build can change, say something else about the run image.
  const rebased = { kind: 'succeeded', image: other, runImage: older, proof: { kind: 'proven', commit } } as const
  const run = (more: Fakes = {}) => reconcile({ remoteSync, runs, base: on(newer), ...more })
  const minute = { kind: 'requeue', requeueAfterMilliseconds: 60_000 }

  test('is rebased when all is done, which stays Ready', async () => {
    const { effects, status: after, slot } = await run()
    const name = after?.rebase?.build ?? ''
    expect(effects).toEqual(['token', `rebase ${image} as ${name}`, 'status Deployed'])
    expect(name).toMatch(/^shop-rebase-[0-9a-f]{12}$/)
    expect(after).toMatchObject({ image, runImage: older, rebase: { runImage: newer } })
    expect(slot).toBe('taken')
  })

  test.each<[string, Fakes]>([
    ['on the newest', { base: on(older) }],
    ['of a builder that says nothing', { base: undefined }],
    ['of another builder', { base: { ...on(newer), name: 'java' } }],
    ['of another stack', { base: { ...on(newer), stack: 'other' } }],
    ['whose builder is not known', { remoteSync: sync({}, { metadata: finalized, status: ofUnknown }) }],
    ['of an Application that is pinned', { runs: application({ image, commit, pinnedRelease: 3 }, ready) }],
    [
      'in the repository of another Application',
      { ...withStatus({ image: site }), runs: application({ image: site, commit }, { ...ready, image: site }) },
    ],
    ['that was built before run images were recorded', { remoteSync: sync({}, { metadata: finalized, status: unrecorded }) }],
    ['that failed for this run image', withStatus({ rebase: { build: 'x', runImage: newer, failure: 'no' } })],
    ['that does not run', { runs: application({ image, commit }) }],
  ])('is left as it is: one %s', async (_what, fakes) => {
    const { effects } = await run(fakes)
    expect(effects.filter(effect => effect.startsWith('rebase'))).toEqual([])
  })

  test('waits while others build', async () => {
    const { effects, outcome, observed } = await run({ slotOf: { uid: 'other', name: 'site' } })
    expect(effects).toEqual(['token', 'status Deployed'])
    expect(outcome).toEqual(minute)
    // What waits must not ask the API server every minute.
    expect(observed).toBe(0)
  })

  test('that is refused is tried again, and frees its slot', async () => {
    const { outcome, slot, status: after } = await run({ rebase: { kind: 'refused', message: 'no builder' } })
    expect([outcome, slot, after?.rebase]).toEqual([minute, 'free', undefined])
  })

  test('that cannot be rebased says why, and is Ready', async () => {
    const { effects, outcome, slot, status: after } = await run({ rebase: { kind: 'impossible', message: 'the image is gone' } })
    expect(after?.rebase).toMatchObject({ runImage: newer, failure: 'the image is gone' })
    expect([outcome, slot, effects.at(-1)]).toEqual([{ kind: 'done' }, 'free', 'status Deployed'])
  })

  test('and that was rebased: the status names it, and at once the next run gives it to the Application', async () => {
    const { effects, status: after, outcome } = await run({ state: rebased })
    expect([effects, outcome]).toEqual([['token', 'status Deployed'], { kind: 'requeue', requeueAfterMilliseconds: 0 }])
    expect(after).toMatchObject({
      image: other,
      imageCommit: commit,
      imageBuild: named,
      runImage: newer,
      rebase: { image: other, former: { image, runImage: older } },
    })
    const next = await run({ remoteSync: { ...remoteSync, ...defined({ status: after }) } })
    expect(next.effects).toEqual(['token', `apply Application ${other}`, 'status RollingOut'])
    expect(next.status).toMatchObject({ image: other, runImage: newer, rebase: { former: { image } } })
  })

  test('and that was rebased: the times stay those of the push', async () => {
    const phases = { deployedAt: '2025-12-01T00:00:00.000Z', availableAt: '2025-12-01T00:00:01.000Z' }
    const pushed = { ...remoteSync, status: { ...status, phases } }
    const available = application({ image, commit }, { ...ready, availableAt: phases.availableAt })
    const { status: after } = await run({ state: rebased, remoteSync: pushed, runs: available })
    expect(after).toMatchObject({ image: other, phases })
  })

  test('and whose rebase does not end: it is ended, and not tried again', async () => {
    const { effects, status: after } = await run({ state: { kind: 'timed-out', detail: 'it waits for a node' } })
    expect(effects).toEqual(['token', expect.stringMatching(/^cancel shop-rebase-/), 'status Deployed'])
    expect(after?.rebase?.failure).toContain('it waits for a node')
  })

  test('of three builds that have ended, the oldest goes', async () => {
    const builds = ['new', 'old', 'older'].map(name => ({ key: { namespace: 'acme-build', name }, ended: true }))
    const { effects } = await run({ state: rebased, builds })
    expect(effects.filter(effect => effect.startsWith('cancel'))).toEqual(['cancel older'])
  })

  test('and whose rebase names another commit is not used', async () => {
    const { effects, status: after } = await run({ state: { ...rebased, proof: { kind: 'proven', commit: before } } })
    expect(effects).toEqual(['token', 'status Deployed'])
    expect(after).toMatchObject({ image, rebase: { failure: expect.stringContaining('not used') } })
  })

  const unanswered = {
    kind: 'failed',
    step: 'rebase',
    detail: 'connection refused',
    sourceUnread: false,
    registryRefused: false,
    registryUnreachable: true,
  } as const

  test('and that the registry did not answer is tried three times, under names of their own', async () => {
    const first = await run({ state: unanswered })
    expect(first.status?.rebase).toMatchObject({ runImage: newer, attempt: 2 })
    expect(first.status?.rebase?.failure).toBeUndefined()
    expect(first.outcome).toEqual({ kind: 'requeue', requeueAfterMilliseconds: 2000 })
    const next = first.status?.rebase?.build ?? ''
    const second = await run(withStatus({ rebase: first.status?.rebase }))
    expect(second.effects).toContain(`rebase ${image} as ${next}`)
    const last = await run({ state: unanswered, ...withStatus({ rebase: { build: 'x', runImage: newer, attempt: 3 } }) })
    expect(last.status?.rebase?.failure).toContain('reach the image registry')
    expect(new Set([named, next, last.status?.rebase?.build]).size).toBe(3)
  })

  test('and whose rebase failed by itself is not tried again; of what has ended, the oldest goes', async () => {
    const builds = ['new', 'old', 'older'].map(name => ({ key: { namespace: 'acme-build', name }, ended: true }))
    const { effects, status: after } = await run({ state: { ...unanswered, registryUnreachable: false }, builds })
    expect(after?.rebase?.failure).toContain('connection refused')
    expect(effects.filter(effect => effect.startsWith('cancel'))).toEqual(['cancel older'])
  })

  test('and that was rebased before: the times and the image stay while the next rebase runs, and after its failure', async () => {
    const phases = { deployedAt: '2025-12-01T00:00:00.000Z', availableAt: '2025-12-01T00:00:01.000Z' }
    const before = withStatus({ image: other, runImage: newer, rebase: { build: 'x', runImage: newer, image: other }, phases })
    const runs = application({ image: other, commit }, { ...ready, image: other, availableAt: '2026-01-01T00:00:00.000Z' })
    const begun = await run({ ...before, runs, base: on(newest) })
    expect(begun.status).toMatchObject({ phases, rebase: { runImage: newest, image: other } })
    const failed = await run({ ...before, runs, base: on(newest), rebase: { kind: 'impossible', message: 'no' } })
    expect(failed.status).toMatchObject({ phases, rebase: { failure: 'no', image: other } })
  })

  test.each<[string, Fakes]>([
    ['the Application rolls out', { runs: application({ image, commit }) }],
    ['the branch is gone', { without: 'branch' }],
    ['the RemoteSync is suspended', { remoteSync: sync({ suspend: true }, { metadata: finalized, status }) }],
  ])('and whose rebase runs: it is ended while %s', async (_what, more) => {
    const name = (await run()).status?.rebase?.build ?? ''
    const builds = [{ key: { namespace: 'acme-build', name }, ended: false, isRebase: true }]
    const { effects } = await run({ builds, ...more })
    expect(effects.filter(effect => effect.startsWith('cancel'))).toEqual([`cancel ${name}`])
  })
})

describe('a rebased image whose release failed', () => {
  const rebase = { build: 'x', runImage: newer, image: other, former: { image, runImage: older } }
  const built = { commit, image: other, imageCommit: commit, imageBuild: named, imageBuilder, runImage: newer, rebase }
  const remoteSync = sync({}, { metadata: finalized, status: { ...built, observedGeneration: 1 } })
  const held = (reason: string) => ({ image, conditions: [condition('Ready', 'False', reason, 'the server crashes')] })
  const runs = (reason = 'RolledBack', running = image) =>
    application({ image: other, commit }, { ...held(reason), image: running })
  const run = (more: Fakes = {}) => reconcile({ remoteSync, runs: runs(), base: on(newer), ...more })

  test.each(['RolledBack', 'ReleaseJobFailed', 'ReleaseJobTimedOut'])('is given up after %s', async reason => {
    const { effects, status } = await run({ runs: runs(reason) })
    expect(effects.slice(0, 2)).toEqual(['status undefined', `apply Application ${image}`])
    expect(effects.filter(effect => effect.startsWith('apply Application'))).toHaveLength(1)
    expect(status).toMatchObject({ image, runImage: older, rebase: { runImage: newer, image: other } })
    expect(status?.rebase?.failure).toContain('the server crashes')
    expect(status?.rebase?.former).toBeUndefined()
  })

  test.each<[string, Fakes]>([
    ['a release of the same image and another spec gave way to it', { runs: runs('RolledBack', other) }],
    ['its rollout goes on', { runs: runs('RollingOut') }],
    ['another generation failed', { runs: { ...runs(), metadata: { ...runs().metadata, generation: 2 } } }],
    ['it is kept although it crashes', { runs: runs('Crashing') }],
  ])('stays while %s', async (_what, more) => {
    const { status } = await run(more)
    expect(status).toMatchObject({ image: other, runImage: newer })
  })

  test('goes also after a crash in between, and while the newest commit fails', async () => {
    const { former: _, ...given } = rebase
    const build = { name: named, commit, attempt: 1 }
    const failed = {
      ...built,
      image,
      runImage: older,
      rebase: { ...given, failure: 'it crashes' },
      imageCommit: before,
      imageBuild: 'shop-1',
    }
    const status = { ...failed, observedGeneration: 1, failedCommit: commit, build }
    const { effects, status: after } = await run({
      remoteSync: sync({}, { metadata: finalized, status }),
      runs: application({ image: other, commit: before }),
    })
    expect(after?.failedCommit).toBe(commit)
    expect(effects).toContain(`apply Application ${image}`)
  })

  test('gets a corrected run image', async () => {
    const { former: _, ...given } = rebase
    const status = { ...built, observedGeneration: 1, image, runImage: older, rebase: { ...given, failure: 'it crashes' } }
    const ready = application({ image, commit }, { image, conditions: [condition('Ready', 'True')] })
    const fakes = { remoteSync: sync({}, { metadata: finalized, status }), runs: ready }
    expect((await run(fakes)).effects).toEqual(['token', 'status Deployed'])
    const { effects } = await run({ ...fakes, base: on(newest) })
    expect(effects.filter(effect => effect.startsWith('rebase'))).toEqual([expect.stringContaining(`rebase ${image} as`)])
  })
})
