import { describe, expect, test } from 'vitest'
import { type Bucket, bucket } from '../../api/services/bucket.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { nextStatus, standOf } from './status.ts'

const gibi = 1024 ** 3
const plan = { name: 'small', limits: { storage: '1Gi' } } as const
const now = new Date('2026-01-01T00:00:00Z')
const { apiVersion, kind } = bucket
const provisioned = { provisioned: 'True', refusal: undefined, plan } as const

function bucketWith(status?: Bucket['status']): Bucket {
  const metadata = { namespace: 'acme', name: 'pictures' }
  return { apiVersion, kind, metadata, spec: { class: 'c' }, ...(status && { status }) } as Bucket
}

/** After this was measured. */
function measured(before: Bucket, gibibytes: number, complete = true): Bucket {
  const usage = { bytes: gibibytes * gibi, objects: 1, complete }
  const stand = standOf(before, usage, plan, now)
  return bucketWith(nextStatus(before, { ...provisioned, usage, ...(stand && { stand }) }, now))
}
const said = ({ status }: Bucket, type: string) => findCondition(status?.conditions, type)

describe('how a bucket stands to its plan', () => {
  test('over it, the condition is False, Ready says it and stays True, and the usage has since when', () => {
    const over = measured(bucketWith(), 1.5)
    expect(said(over, 'WithinPlan')).toMatchObject({ status: 'False', reason: 'OverPlan' })
    const message = expect.stringContaining('it takes more than the 1Gi of plan small')
    expect(said(over, 'Ready')).toMatchObject({ status: 'True', reason: 'Provisioned', message })
    expect(over.status?.usage?.overSince).toBe(now.toISOString())
    const back = measured(over, 0.5)
    expect(said(back, 'WithinPlan')).toMatchObject({ status: 'True', reason: 'WithinPlan' })
    expect(said(back, 'Ready')?.message).toBe('the bucket exists in the store')
    expect(back.status?.usage).not.toHaveProperty('overSince')
  })

  test('what is not measured now changes nothing', () => {
    const over = measured(bucketWith(), 1.5)
    const stand = standOf(over, undefined, plan, now)
    const again = nextStatus(over, { ...provisioned, usage: undefined, ...(stand && { stand }) }, new Date(now.getTime() + 1))
    expect(again).toEqual(over.status)
    expect(standOf(bucketWith(), undefined, plan, now)).toBeUndefined()
  })

  test('of more objects than are counted only that they are too much is known', () => {
    expect(said(measured(bucketWith(), 0.5, false), 'WithinPlan')).toBeUndefined()
    const over = measured(bucketWith(), 1.5, false)
    expect(said(over, 'WithinPlan')).toMatchObject({ reason: 'OverPlan' })
    expect(said(measured(over, 0.5, false), 'WithinPlan')).toMatchObject({ reason: 'OverPlan' })
  })
})
