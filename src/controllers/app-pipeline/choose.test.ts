// Which previews there are to be: policy, limits, pauses, and what doubt keeps.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PullRequest } from '../../github/index.ts'
import type { Row } from './activity.ts'
import { choose, type Entry, requestedBy, withoutAnswer } from './choose.ts'
import { facts, known, now, pipeline, preview, pull, sha } from './testing/app-pipeline.ts'

type Spec = Partial<AppPipeline['spec']>

const row = (number: number, changes: Partial<Row> = {}): Row => ({
  number,
  headCommit: sha(number),
  state: 'Running',
  reason: 'Running',
  message: 'x',
  since: now.toISOString(),
  activeAt: now.toISOString(),
  ...changes,
})

/** Number, action, and why. */
const shown = (entry: Entry) => [entry.number, entry.action, entry.action === 'keep' ? undefined : entry.standing?.reason]

function actions(
  pulls: readonly PullRequest[],
  existing: readonly number[] = [],
  spec: Spec = {},
  confirmed: readonly number[] = [],
) {
  const all = facts({ pipeline: pipeline(spec), existing: existing.map(number => preview(number)) })
  const { entries, needs } = choose(all, known(pulls, { confirmed: new Set(confirmed) }))
  return { entries: Object.fromEntries(entries.map(({ number, action }) => [number, action])), needs }
}

describe('a preview', () => {
  test('is made for each open pull request that passes, and kept', () => {
    expect(actions([pull(1), pull(2)], [1]).entries).toEqual({ 1: 'keep', 2: 'keep' })
  })

  test('is not removed because the list lacks its pull request: GitHub is asked about that one', () => {
    const { entries, needs } = actions([], [1])
    expect([entries, needs.confirm]).toEqual([{ 1: 'hold' }, [1]])
  })

  test('stays when GitHub does not show its pull request any more', () => {
    const { entries, needs } = actions([], [1], {}, [1])
    expect([entries, needs.confirm]).toEqual([{ 1: 'hold' }, []])
  })

  test('goes when the answer about the pull request alone says that it is closed', () => {
    expect(actions([pull(1, { state: 'closed' })], [1], {}, [1]).entries).toEqual({ 1: 'remove' })
  })

  test.each<[string, Partial<PullRequest>]>([
    ['draft', { draft: true }],
    ['label', { labels: ['wip'] }],
    ['base', { baseBranch: 'next' }],
    ['fork', { headRepository: 9 }],
  ])('goes when that answer says that the policy excludes it (%s), and not before', (_what, changes) => {
    const spec: Spec = { policy: { drafts: false, bots: false, forks: 'Never', baseBranches: ['main'], withoutLabels: ['WIP'] } }
    expect(actions([pull(1, changes)], [1], spec)).toMatchObject({ entries: { 1: 'hold' }, needs: { confirm: [1] } })
    expect(actions([pull(1, changes)], [1], spec, [1]).entries).toEqual({ 1: 'remove' })
  })

  test('of the repository that spec.repository named before goes, and that of the same number waits until then', () => {
    const all = facts({ existing: [preview(1, 6)] })
    const { entries } = choose(all, known([pull(1)]))
    expect(entries.map(shown)).toEqual([[1, 'remove', 'Removing']])
  })

  test('that is paused is kept when it exists, and not made when it does not', () => {
    expect(actions([pull(1), pull(2)], [1], { paused: [1, 2] }).entries).toEqual({ 1: 'keep', 2: 'none' })
    expect(actions([pull(1), pull(2)], [1], { suspend: true }).entries).toEqual({ 1: 'keep', 2: 'none' })
  })

  test('waits until GitHub has said what its commit says; what exists is held until then', () => {
    const { entries, needs } = choose(facts({ existing: [preview(1)] }), known([pull(1), pull(2)], { details: new Map() }))
    expect(entries.map(({ number, action }) => [number, action])).toEqual([
      [1, 'hold'],
      [2, 'none'],
    ])
    expect(needs.details.map(({ number }) => number)).toEqual([1, 2])
  })
})

test('a policy that gets paths asks for the files of what was looked at without them', () => {
  const spec: Spec = { policy: { drafts: true, bots: false, forks: 'Never', paths: ['api'] } }
  const { entries, needs } = actions([pull(1)], [1], spec)
  expect([entries, needs.details.map(({ number }) => number)]).toEqual([{ 1: 'hold' }, [1]])
})

describe('the limit', () => {
  const two: Spec = { limits: { previews: 2 } }

  test('takes those with the newest activity, and says who is left out', () => {
    // The higher the number, the older.
    const all = facts({ pipeline: pipeline(two), existing: [preview(3)] })
    const { entries } = choose(all, known([pull(1), pull(2), pull(3), pull(4)]))
    expect(entries.map(shown)).toEqual([
      [1, 'keep', undefined],
      [2, 'keep', undefined],
      [3, 'remove', 'LimitReached'],
      [4, 'none', 'LimitReached'],
    ])
  })

  test('counts a new commit as activity, and a comment not', () => {
    const old = '2025-12-01T00:00:00.000Z'
    const previews = [
      row(1, { activeAt: old, headCommit: sha(9) }),
      row(2, { activeAt: old }),
      row(3, { activeAt: '2025-12-02T00:00:00.000Z' }),
    ]
    const commented = pull(2, { updatedAt: now.toISOString() })
    const { entries } = choose(
      facts({ pipeline: pipeline({ limits: { previews: 1 } }, { previews }) }),
      known([pull(1), commented, pull(3)]),
    )
    expect(entries.map(({ number, activeAt, action }) => [number, activeAt, action])).toEqual([
      [1, now.toISOString(), 'keep'],
      [2, old, 'none'],
      [3, '2025-12-02T00:00:00.000Z', 'none'],
    ])
  })

  test('counts what is in doubt', () => {
    expect(actions([pull(1), pull(2)], [3], two).entries).toEqual({ 1: 'keep', 2: 'none', 3: 'hold' })
  })

  test('removes what had no activity for too long', () => {
    const { entries } = choose(
      facts({ pipeline: pipeline({ limits: { previews: 5, idleHours: 1 } }), existing: [preview(90)] }),
      known([pull(1), pull(90)]),
    )
    expect(entries.map(shown)).toEqual([
      [1, 'keep', undefined],
      [90, 'remove', 'Idle'],
    ])
  })
})

describe('the sum of all', () => {
  const process = { name: 'web', port: 3000, replicas: 1, cpu: '400m', memory: '1Gi' }
  const of = (changes: object): Spec => {
    const { template } = pipeline().spec
    const application = { ...template.application, processes: [{ ...process, ...changes }] }
    return { template: { ...template, application }, policy: { drafts: true, bots: false, forks: 'Approved' } }
  }
  const one = of({})

  test('takes those with the newest activity, as many as fit, and says who is left out', () => {
    const spec: Spec = { ...one, limits: { previews: 10, resources: { cpu: '1' } } }
    const { entries } = choose(
      facts({ pipeline: pipeline(spec), existing: [preview(2), preview(3)] }),
      known([pull(1), pull(2), pull(3)]),
    )
    expect(entries.map(shown)).toEqual([
      [1, 'keep', undefined],
      [2, 'keep', undefined],
      [3, 'remove', 'LimitReached'],
    ])
    expect(entries[2]?.action === 'remove' && entries[2].standing.message).toMatch(/^spec\.limits\.resources\.cpu allows /)
  })

  test.each<[string, Spec, number]>([
    ['memory', { ...one, limits: { previews: 10, resources: { cpu: '9', memory: '2Gi' } } }, 2],
    ['the most pods of autoscaling', { ...of({ autoscaling: { minReplicas: 1, maxReplicas: 3, cpuPercent: 80 } }) }, 1],
    ['nothing that one preview alone exceeds', { ...of({ cpu: '3' }) }, 0],
    ['the number, when that is less', { ...one, limits: { previews: 1, resources: { cpu: '2' } } }, 1],
  ])('counts %s', (_what, spec, places) => {
    const limits = { previews: 10, resources: { cpu: '2' } }
    const { entries } = actions([pull(1), pull(2), pull(3)], [], { limits, ...spec })
    expect(Object.values(entries).filter(action => action === 'keep')).toHaveLength(places)
  })

  test('counts what is in doubt as it exists, and forks with the less that they get', () => {
    const exists = preview(9)
    const big = { chart: 'web', processes: [{ ...process, cpu: '1' }] }
    const held = { ...exists, application: exists.application && { ...exists.application, spec: big } }
    const approvals = [2, 3].map(number => ({
      spec: { pipeline: { name: 'shop', uid: 'uid-pipeline' }, repository: 7, number, headCommit: sha(number) },
    }))
    const all = facts({
      pipeline: pipeline({ ...one, limits: { previews: 10, resources: { cpu: '1900m' } } }),
      existing: [held],
      approvals: approvals as never,
    })
    const { entries } = choose(all, known([pull(1), ...[2, 3].map(number => pull(number, { headRepository: 9 })), pull(4)]))
    // 1000m, 400m, and 250m for each fork.
    expect(entries.map(shown)).toEqual([
      [1, 'keep', undefined],
      [2, 'keep', undefined],
      [3, 'keep', undefined],
      [4, 'none', 'LimitReached'],
      [9, 'hold', undefined],
    ])
    expect(requestedBy(all.pipeline, 7, entries)).toEqual({ cpu: 1900, memory: 1024 + 1024 + 512 + 512 })
  })

  test('counts one that is paused: it keeps its place', () => {
    const limits = { previews: 10, resources: { cpu: '400m' } }
    expect(actions([pull(1), pull(2)], [1], { ...one, limits, paused: [1] }).entries).toEqual({ 1: 'keep', 2: 'none' })
  })
})

const anyPull = fc.record({
  number: fc.integer({ min: 1, max: 12 }),
  draft: fc.boolean(),
  closed: fc.boolean(),
  fork: fc.boolean(),
})

test('whatever the list says: what exists goes only for a reason that is certain, and never more exist than the limit allows', () => {
  const world = fc.record({
    pulls: fc.uniqueArray(anyPull, { selector: ({ number }) => number }),
    existing: fc.uniqueArray(fc.integer({ min: 1, max: 12 })),
    confirmed: fc.uniqueArray(fc.integer({ min: 1, max: 12 })),
    previews: fc.integer({ min: 1, max: 5 }),
    // Each preview requests 50m.
    cores: fc.integer({ min: 1, max: 600 }),
  })
  fc.assert(
    fc.property(world, ({ pulls, existing, confirmed, previews, cores }) => {
      const listed = pulls.map(({ number, draft, closed, fork }) =>
        pull(number, { draft, state: closed ? 'closed' : 'open', ...(fork ? { headRepository: 9 } : {}) }),
      )
      const limits = { previews, resources: { cpu: `${cores}m` } }
      const spec: Spec = { limits, policy: { drafts: false, bots: false, forks: 'Never' } }
      const all = facts({ pipeline: pipeline(spec), existing: existing.map(number => preview(number)) })
      const { entries } = choose(all, known(listed, { confirmed: new Set(confirmed) }))
      expect(entries.map(({ number }) => number)).toEqual([...new Set(entries.map(({ number }) => number))].sort((a, b) => a - b))
      for (const number of existing) {
        const entry = entries.find(one => one.number === number)
        const passes = listed.some(one => one.number === number && one.state === 'open' && !one.draft && one.headRepository === 7)
        const isCertain = passes || confirmed.includes(number)
        if (entry?.action === 'remove') expect(isCertain && (!passes || entry.standing.reason === 'LimitReached')).toBe(true)
        else expect(entry?.action).toMatch(/^(keep|hold)$/)
      }
      for (const { action, pull: of } of entries)
        if (action === 'keep') expect([of?.state, of?.draft, of?.headRepository]).toEqual(['open', false, 7])
      const held = entries.filter(({ action }) => action === 'hold').length
      const kept = entries.filter(({ action }) => action === 'keep').length
      const room = Math.min(previews, Math.floor(cores / 50))
      expect(kept).toBeLessThanOrEqual(Math.max(0, room - held))
      // Nobody is left out while there is room.
      const isLeftOut = entries.some(
        one => one.action !== 'keep' && one.action !== 'hold' && one.standing.reason === 'LimitReached',
      )
      if (isLeftOut) expect(kept + held).toBeGreaterThanOrEqual(room)
    }),
    { numRuns: 500 },
  )
})

test('without an answer of GitHub all stays as it is, and the status says what it said', () => {
  const previews = [row(1), row(2, { state: 'LeftOut', reason: 'DraftExcluded' })]
  const entries = withoutAnswer(facts({ pipeline: pipeline({}, { previews }), existing: [preview(1)] }))
  expect(entries.map(shown)).toEqual([
    [1, 'hold', undefined],
    [2, 'none', 'DraftExcluded'],
  ])
})
