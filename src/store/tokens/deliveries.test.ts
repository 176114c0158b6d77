// Deliveries of one token at once are few writes, and each is counted.
import { expect, test } from 'vitest'
import { systemClock as clock } from '../../lib/clock.ts'
import { createDeliveries } from './deliveries.ts'

/** Rows that a test revokes, and the writes to them, which end in later turns. */
function rows() {
  const deliveries = new Map<string, number>()
  const revoked = new Set<string>()
  const writes: string[] = []
  const updateMany = async ({ where: { id }, data }: { where: { id: string }; data: { deliveries: { increment: number } } }) => {
    writes.push(id)
    const count = revoked.has(id) ? 0 : 1
    if (count === 1) deliveries.set(id, (deliveries.get(id) ?? 0) + data.deliveries.increment)
    await new Promise(resolve => setImmediate(resolve))
    return { count }
  }
  const record = createDeliveries({ prisma: { tokenRow: { updateMany: updateMany as never } }, clock })
  return { deliveries, revoked, writes, record }
}

test('a thousand deliveries of one token at once are two writes, and all are counted; those of others do not wait', async () => {
  const { deliveries, writes, record } = rows()
  await Promise.all([...Array.from({ length: 1000 }, () => record('one')), record('other')])
  expect(Object.fromEntries(deliveries)).toEqual({ one: 1000, other: 1 })
  expect(writes).toEqual(['one', 'other', 'one'])
  await record('one')
  expect(deliveries.get('one')).toBe(1001)
})

test('a token that is revoked during a write is delivered to nobody who asked after it began', async () => {
  const { deliveries, revoked, record } = rows()
  const before = record('one')
  revoked.add('one')
  const after = [record('one'), record('one')]
  await before
  for (const one of await Promise.allSettled(after))
    expect(one).toMatchObject({
      status: 'rejected',
      reason: { code: 'conflict', message: expect.stringContaining('revoked before') },
    })
  expect(deliveries.get('one')).toBe(1)
})
