// How much of the log one query looks at: what an index finds rarely is found in a few queries, and nothing else grows.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import type { AuditQuery, EntryLines } from '../../store/audit/audit-rows.ts'
import { type EntryStream, entryLines } from './entry-stream.ts'

/** The widths of the queries on a log of this length in which every n-th entry passes the filter. */
async function widths(entries: number, every: number, filter: EntryStream['filter']): Promise<readonly number[]> {
  const asked: number[] = []
  const lines = async ({ after = 0, through = entries, limit }: AuditQuery): Promise<EntryLines> => {
    asked.push(through - after)
    const first = Math.floor(after / every) + 1
    const found = Math.min(limit, Math.floor(through / every) - first + 1)
    const sequences = Array.from({ length: found }, (_, index) => (first + index) * every)
    const pieces = sequences.map(sequence => `${JSON.stringify({ sequence })}\n`)
    return { pieces, count: found, last: sequences.at(-1) }
  }
  const head = async () => ({ sequence: entries, hash: '' })
  const audit = { lines, head, start: async () => ({ sequence: 0, hash: '' }) }
  const { signal } = new AbortController()
  const mayGoOn = async () => true
  const read: string[] = []
  for await (const piece of entryLines({ audit, clock: createFakeClock(), after: 0, follow: false, mayGoOn, signal, filter }))
    read.push(...piece.trim().split('\n'))
  const sequences = read.map(line => JSON.parse(line).sequence).filter(sequence => sequence !== undefined)
  expect(sequences).toEqual(Array.from({ length: Math.floor(entries / every) }, (_, index) => (index + 1) * every))
  return asked
}

test('of a repository that is rare, ten million entries take a few queries', async () => {
  const asked = await widths(10_000_000, 1_000_000, { repositoryId: 4001 })
  expect(asked.length).toBeLessThan(8)
})

test('a page that is full is followed by the least of what one query looks at', async () => {
  const asked = await widths(400_000, 100, { uid: 'g-1' })
  expect(Math.max(...asked)).toBe(160_000)
  expect(asked.filter(width => width === 20_000).length).toBeGreaterThan(1)
})

test('what no index finds is looked for in the same number of entries each time', async () => {
  const asked = await widths(200_000, 50_000, { namespace: 'acme' })
  expect(asked).toEqual(Array(10).fill(20_000))
})
