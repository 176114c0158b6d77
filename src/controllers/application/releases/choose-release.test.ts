// Which release runs, and when another one is made.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { choosePinned, chooseRelease, planRelease } from './choose-release.ts'
import { contentHash } from './release-content.ts'
import { application, header } from './testing/application.ts'

const same = contentHash(application(), {})
const newest = header(4, { hash: same })
const hold = { reason: 'ReleaseJobRunning', message: 'runs' }

describe('a release is made', () => {
  test.each([
    ['first', application(), undefined, {}, { number: 1, reason: 'First' }],
    ['not for the same', application(), newest, {}, undefined],
    ['for an image without a commit', application({ image: 'i2' }), newest, {}, { number: 5, reason: 'NewImage' }],
    ['for a commit', application({ image: 'i2', commit: 'a'.repeat(40) }), newest, {}, { number: 5, reason: 'NewCommit' }],
    ['for another spec', application({ attributes: { a: 'b' } }), newest, {}, { number: 5, reason: 'SpecChanged' }],
    ['for a secret', application(), newest, { database: '2' }, { number: 5, reason: 'SecretChanged' }],
    [
      'for a spec and a secret',
      application({ attributes: { a: 'b' } }),
      newest,
      { database: '2' },
      { number: 5, reason: 'SpecChanged' },
    ],
    ['above a number that was deleted', application({}, { latestRelease: 9 }), undefined, {}, { number: 10, reason: 'First' }],
    ['not for a restart of what runs', application({ restartedAt: 't' }), newest, {}, undefined],
    [
      'for a restart of what was rolled back',
      application({ restartedAt: 't' }, { rollback: { from: 4, to: 3, reason: 'r', at: 't' } }),
      newest,
      {},
      { number: 5, reason: 'Retried' },
    ],
    [
      'once for a restart',
      application({ restartedAt: 't' }, { rollback: { from: 4, to: 3, reason: 'r', at: 't' } }),
      header(4, { hash: same, restartedAt: 't' }),
      {},
      undefined,
    ],
  ])('%s', (...[, app, found, secrets, expected]) => {
    const plan = planRelease(app, found, { secretVersions: secrets })
    expect(plan && { number: plan.number, reason: plan.reason }).toEqual(expected)
  })
})

describe('a release of a followed tag', () => {
  const secretVersions = { database: '1' }
  const tag = 'registry.test/shop:v1'
  const moved = application({ image: 'registry.test/shop@sha256:2' })
  const before = { hash: contentHash(application(), secretVersions), secretVersions, tag }

  test.each<[string, Application, { tag?: string | undefined }, object, string | undefined]>([
    ['says that the tag moved', moved, {}, { tag }, 'TagMoved'],
    ['is not made again for the same image, also after a roll back', application(), {}, { tag }, undefined],
    ['says that the spec changed when it did, too', { ...moved, spec: { ...moved.spec, env: [] } }, {}, { tag }, 'SpecChanged'],
    ['says that the image changed when it is another tag', moved, {}, { tag: 'registry.test/shop:v2' }, 'NewImage'],
    ['says that the image changed when it was none of a tag', moved, { tag: undefined }, { tag }, 'NewImage'],
    ['says that the image changed when no tag is followed any more', moved, {}, {}, 'NewImage'],
  ])('%s', (...[, app, spec, inputs, expected]) => {
    const rolledBack = { rollback: { from: 4, to: 3, reason: 'r', at: 't' } }
    const plan = planRelease({ ...app, status: rolledBack }, header(4, { ...before, ...spec } as never), {
      secretVersions,
      ...inputs,
    })
    expect(plan?.reason).toBe(expected)
  })
})

describe('what runs', () => {
  test.each([
    ['the newest', 4, {}, undefined, { kind: 'run', number: 4 }],
    ['nothing while the first release waits for its job', 1, {}, hold, { kind: 'nothing', hold }],
    [
      'what is being rolled out while the newest waits for its job',
      4,
      { rollout: { release: 3, startedAt: 't' }, release: 2 },
      hold,
      { kind: 'run', number: 3, hold },
    ],
    [
      'the one before after a roll back',
      4,
      { rollback: { from: 4, to: 2, reason: 'it crashed', at: 't' } },
      undefined,
      { kind: 'run', number: 2, hold: { reason: 'RolledBack', message: expect.stringContaining('it crashed') } },
    ],
    [
      'the newest when an older one was rolled back',
      5,
      { rollback: { from: 4, to: 2, reason: 'it crashed', at: 't' } },
      undefined,
      { kind: 'run', number: 5 },
    ],
  ])('is %s', (...[, number, status, held, expected]) => {
    expect(chooseRelease(number, status, held)).toEqual(expected)
  })
})

describe('a pin', () => {
  const all = [
    header(5),
    header(4, {}, 'ReleaseJobFailed'),
    header(3, {}, 'Unhealthy'),
    header(2, {}, 'Superseded'),
    header(1, {}, 'RolledOut'),
  ]

  test('runs what ran before, also what was rolled back', () => {
    for (const number of [1, 3]) expect(choosePinned(number, all, {})).toEqual({ kind: 'run', number })
    expect(choosePinned(5, all, { release: 5 })).toEqual({ kind: 'run', number: 5 })
  })

  test('never runs a release that did not run: its job may not have succeeded', () => {
    for (const number of [2, 4, 5])
      expect(choosePinned(number, all, {})).toMatchObject({
        kind: 'refused',
        reason: 'ReleaseNotFound',
        message: expect.stringContaining(`release ${number} never ran: use one of 1, 3`),
      })
    expect(choosePinned(9, [], {})).toMatchObject({ message: expect.stringContaining('there is none that ran') })
  })
})
