import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { graceEnd, graceMilliseconds, type PlanStand, planCondition, planStand, type Standing } from './plan.ts'

const gibi = 1024 ** 3
const plan = { name: 'small', limits: { connections: 5, storage: '1Gi' } } as const
const begin = new Date('2026-01-01T00:00:00Z')
const later = (milliseconds: number): Date => new Date(begin.getTime() + milliseconds)
const within: PlanStand = { standing: 'within', overSince: undefined }
const stand = (used: number | undefined, before: PlanStand = within, now = begin): PlanStand =>
  planStand({ kind: 'ServiceInstance', before, bytes: used === undefined ? undefined : used * gibi, plan, now })

type Look = { readonly used: number; readonly before: PlanStand; readonly next: PlanStand; readonly now: Date }

/** What holds of each look, whatever was before. */
function isLawful({ used, before, next, now }: Look): boolean {
  if (used <= 0.9) return next.overSince === undefined && next.standing !== 'over' && next.standing !== 'ended'
  if (before.standing === 'ended') return next.standing === 'ended'
  if (next.standing === 'ended') return used > 1
  return next.standing !== 'over' || now.getTime() - (next.overSince?.getTime() ?? 0) < graceMilliseconds
}

describe('how an instance stands to its plan', () => {
  test.each<[string, number, Standing, Standing]>([
    ['79 %', 0.79, 'within', 'within'],
    ['80 %', 0.8, 'within', 'near'],
    ['back at 79 %', 0.79, 'near', 'near'],
    ['back at 75 %', 0.75, 'near', 'within'],
    ['exactly the plan', 1, 'within', 'near'],
    ['a little more', 1.01, 'near', 'over'],
    ['far more', 2.01, 'within', 'ended'],
    ['ended, and still 91 %', 0.91, 'ended', 'ended'],
    ['ended, and 90 %', 0.9, 'ended', 'near'],
    ['ended, and nothing', 0, 'ended', 'within'],
  ])('%s', (_, used, before, expected) => {
    expect(stand(used, { standing: before, overSince: before === 'ended' ? begin : undefined }).standing).toBe(expected)
  })

  test('the grace runs from when it was first over, and dipping below the plan does not begin it anew', () => {
    const over = stand(1.5)
    expect(graceEnd(over)).toEqual(later(graceMilliseconds))
    const dipped = stand(0.95, over, later(1000))
    expect(dipped).toEqual({ standing: 'near', overSince: begin })
    expect(stand(1.5, dipped, later(graceMilliseconds - 1)).standing).toBe('over')
    expect(stand(1.5, dipped, later(graceMilliseconds))).toEqual({ standing: 'ended', overSince: begin })
    expect(stand(0.95, dipped, later(graceMilliseconds)).standing).toBe('near')
    expect(stand(0.9, over, later(1000)).overSince).toBeUndefined()
  })

  test('what is not known changes nothing', () => {
    const ended: PlanStand = { standing: 'ended', overSince: begin }
    expect(stand(undefined, ended, later(graceMilliseconds * 9))).toEqual(ended)
  })

  test('a larger plan lifts it', () => {
    const before: PlanStand = { standing: 'ended', overSince: begin }
    const large = { ...plan, limits: { ...plan.limits, storage: '10Gi' } }
    expect(planStand({ kind: 'ServiceInstance', before, bytes: 3 * gibi, plan: large, now: begin }).standing).toBe('within')
  })

  test('conditions say what to do, and no number that changes', () => {
    expect(planCondition('ServiceInstance', within, plan)).toMatchObject({ status: 'True', reason: 'WithinPlan' })
    expect(planCondition('ServiceInstance', stand(0.8), plan)).toMatchObject({ status: 'True', reason: 'NearPlan' })
    const over = planCondition('ServiceInstance', stand(1.1), plan)
    expect(over).toMatchObject({ status: 'False', reason: 'OverPlan' })
    expect(over.message).toContain('from 2026-01-01T01:00:00.000Z, unless it fits by then: TRUNCATE')
    const ended = planCondition('ServiceInstance', { standing: 'ended', overSince: begin }, plan)
    expect(ended).toMatchObject({ status: 'False', reason: 'WritesEnded' })
    expect(ended.message).toContain('less than 90 % of that')
  })

  test('a bucket is over for as long as it takes: its writes do not end', () => {
    const ofBucket = (used: number, before: PlanStand, now: Date) =>
      planStand({ kind: 'Bucket', before, bytes: used * gibi, plan, now })
    const over = ofBucket(5, within, begin)
    expect(over).toEqual({ standing: 'over', overSince: begin })
    const still = ofBucket(1.1, over, later(graceMilliseconds * 9))
    expect(still).toEqual(over)
    const said = planCondition('Bucket', still, plan)
    expect(said).toMatchObject({ status: 'False', reason: 'OverPlan' })
    expect(said.message).toBe(
      'it takes more than the 1Gi of plan small: delete objects, with their former versions, or choose a larger plan in spec.plan',
    )
    expect(ofBucket(0.9, still, later(1))).toEqual({ standing: 'near', overSince: undefined })
  })

  test('whatever it takes and whenever it is asked: over for the grace at most, and no way back between the thresholds', () => {
    const look = fc.record({ used: fc.double({ min: 0, max: 3, noNaN: true }), minutes: fc.integer({ min: 1, max: 50 }) })
    fc.assert(
      fc.property(fc.array(look, { maxLength: 40 }), looks => {
        let [before, now] = [within, begin]
        for (const { used, minutes } of looks) {
          now = new Date(now.getTime() + minutes * 60_000)
          const next = stand(used, before, now)
          expect(isLawful({ used, before, next, now })).toBe(true)
          before = next
        }
      }),
    )
  })
})
