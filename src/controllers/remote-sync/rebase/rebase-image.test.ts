// When an image is rebased, and what comes of it, with everything outside replaced by fakes; kpack itself is in test/e2e.
import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { before, type Fakes, finalized, named, reconcile } from '../testing/reconcile-once.ts'
import { application, commit, condition, sync } from '../testing/remote-sync.ts'

describe('an image whose builder has a newer run image', () => {
  const [older = '', newer = ''] = ['a', 'b'].map(letter => `sha256:${letter.repeat(64)}`)
  const ready = { image: 'image@1', conditions: [condition('Ready', 'True')] }
  const runs = application({ image: 'image@1', commit }, ready)
  const built = { commit, image: 'image@1', imageCommit: commit, imageBuild: named, runImage: older }
  const status: NonNullable<RemoteSync['status']> = { ...built, observedGeneration: 1 }
  const remoteSync = sync({}, { metadata: finalized, status })
  const { runImage: _, ...unrecorded } = status
  // Its labels, which code of a build can change, say something else about the run image.
  const rebased = { kind: 'succeeded', image: 'image@2', runImage: older, proof: { kind: 'proven', commit } } as const
  const run = (more: Fakes = {}) => reconcile({ remoteSync, runs, runImage: newer, ...more })
  const minute = { kind: 'requeue', afterMilliseconds: 60_000 }

  test('is rebased when all is done, which stays Ready', async () => {
    const { effects, status: after, slot } = await run()
    const name = after?.rebase?.build ?? ''
    expect(effects).toEqual(['token', `rebase image@1 as ${name}`, 'status Deployed'])
    expect(name).toMatch(/^shop-rebase-[0-9a-f]{12}$/)
    expect(after).toMatchObject({ image: 'image@1', runImage: older, rebase: { runImage: newer } })
    expect(slot).toBe('taken')
  })

  test.each<[string, Fakes]>([
    ['on the newest', { runImage: older }],
    ['of a builder that says nothing', { runImage: undefined }],
    ['that was built before run images were recorded', { remoteSync: sync({}, { metadata: finalized, status: unrecorded }) }],
    [
      'that failed for this run image',
      {
        remoteSync: sync(
          {},
          { metadata: finalized, status: { ...status, rebase: { build: 'x', runImage: newer, failure: 'no' } } },
        ),
      },
    ],
    ['that does not run', { runs: application({ image: 'image@1', commit }) }],
  ])('is left as it is: one %s', async (_what, fakes) => {
    const { effects } = await run(fakes)
    expect(effects.filter(effect => effect.startsWith('rebase'))).toEqual([])
  })

  test('waits while others build', async () => {
    const { effects, outcome } = await run({ slotOf: { uid: 'other', name: 'site' } })
    expect(effects).toEqual(['token', 'status Deployed'])
    expect(outcome).toEqual(minute)
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

  test('and that was rebased: the status names it before the Application gets it', async () => {
    const { effects, status: after } = await run({ state: rebased })
    expect(effects).toEqual(['token', 'status Deployed', 'apply Application image@2', 'status RollingOut'])
    expect(after).toMatchObject({
      image: 'image@2',
      imageCommit: commit,
      imageBuild: named,
      runImage: newer,
      rebase: { image: 'image@2' },
    })
  })

  test('and that was rebased: the times stay those of the push', async () => {
    const phases = { deployedAt: '2025-12-01T00:00:00.000Z', availableAt: '2025-12-01T00:00:01.000Z' }
    const pushed = { ...remoteSync, status: { ...status, phases } }
    const available = application({ image: 'image@1', commit }, { ...ready, availableAt: phases.availableAt })
    const { status: after } = await run({ state: rebased, remoteSync: pushed, runs: available })
    expect(after).toMatchObject({ image: 'image@2', phases })
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
    expect(after).toMatchObject({ image: 'image@1', rebase: { failure: expect.stringContaining('not used') } })
  })
})
