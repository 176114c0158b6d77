// The commands that read: pages, streams that break, names and times.
import { beforeEach, describe, expect, test } from 'vitest'
import { movableClock } from '../../../../test/fixtures/databases.ts'
import { AppError } from '../../../lib/errors.ts'
import { exitCodeOf } from '../../output.ts'
import type { CommandContext } from '../context.ts'
import type { Entry } from './entry.ts'
import { streamEntries } from './entry-stream.ts'
import { filterQuery } from './filters.ts'
import { auditList, auditShow } from './list.ts'

const entries: readonly Entry[] = Array.from({ length: 2500 }, (_, index) => ({
  sequence: index + 1,
  at: '2026-01-01T00:00:00.000Z',
  action: 'token.minted',
  actor: 'a',
  object: 'o',
  outcome: 'allowed',
  reason: 'r',
  details: {},
  previousHash: '',
  hash: 'h',
}))
const clock = movableClock('2026-11-28T13:30:00Z')
let printed: string[]
let said: string[]
let pages: string[]
beforeEach(() => {
  printed = []
  said = []
  pages = []
})

type Follow = (query: URLSearchParams) => AsyncGenerator<readonly unknown[]>
function contextOf(follow: Follow = async function* () {}): CommandContext {
  const api = {
    lines: async (_path: string, query: URLSearchParams) => {
      pages.push(query.toString())
      const [after, before] = [Number(query.get('after') ?? 0), Number(query.get('before') ?? 1e9)]
      const found = entries.filter(({ sequence }) => sequence > after && sequence < before)
      return (query.has('after') ? found : found.toReversed()).slice(0, Number(query.get('limit')))
    },
    json: async (_path: string, query: URLSearchParams) => {
      const [[kind = '', name = ''] = []] = [...query]
      const known: Readonly<Record<string, object>> = {
        gary: { matches: [{ id: 'github|github.com|1004', name: 'gary' }], near: [] },
        'acme/shop': { matches: [{ id: '4001' }, { id: '5001' }], near: [] },
      }
      return { [kind]: known[name] ?? { matches: [], near: ['gary'] } }
    },
    follow: (_path: string, query: URLSearchParams) => follow(query),
  }
  return {
    terminal: { result: (text: string) => void printed.push(text), say: () => {} },
    say: (text: string) => void said.push(text),
    clock,
    api: async () => api,
  } as unknown as CommandContext
}

test('any number of entries comes in pages, each of which goes on where the one before ended', async () => {
  await auditList(contextOf(), { limit: '2300', output: 'jsonl' })
  const lines = printed.join('\n').split('\n')
  expect(lines.map(line => JSON.parse(line).sequence)).toEqual(
    entries
      .toReversed()
      .slice(0, 2300)
      .map(({ sequence }) => sequence),
  )
  expect(pages).toHaveLength(3)
  printed = []
  await auditList(contextOf(), { limit: '1500', output: 'json' })
  expect(JSON.parse(printed.join('\n'))).toHaveLength(1500)
})

test('an entry that is not there is not found', async () => {
  await auditShow(contextOf(), { argument: '7', output: 'json' })
  expect(JSON.parse(printed[0] ?? '')).toMatchObject({ sequence: 7 })
  await expect(auditShow(contextOf(), { argument: '2501', output: 'table' })).rejects.toMatchObject({ code: 'not_found' })
})

describe('names and times', () => {
  test('a name becomes an id, which is said; ids stay', async () => {
    const query = await filterQuery(contextOf(), { person: 'gary', repository: '4001', actor: 'system:serviceaccount:acme:ci' })
    expect(Object.fromEntries(query)).toEqual({
      person: 'github|github.com|1004',
      repository: '4001',
      actor: 'system:serviceaccount:acme:ci',
    })
    expect(said).toEqual(['gary is github|github.com|1004'])
  })
  test.each([
    [{ person: 'garry' }, 1, 'did you mean gary?'],
    [{ actor: 'garry' }, 1, 'no person in the newest 500,000 entries of the log'],
    [{ repository: 'acme/shop' }, 2, '4001, 5001'],
    [{ repository: 'shop' }, 2, 'neither an id nor owner/name'],
    [{ since: 'soon' }, 2, 'last tuesday 14:00'],
    [{ since: '2027-01-01' }, 2, 'in the future'],
    [{ since: 'yesterday', until: '2026-01-01' }, 2, 'later than --since'],
  ])('%j ends with %i and says why', async (options, code, text) => {
    const error = await filterQuery(contextOf(), options).catch((reason: unknown) => reason)
    expect(exitCodeOf(error)).toBe(code)
    expect(String(error)).toContain(text)
  })
})

describe('a stream that breaks', () => {
  test('goes on after the last entry: none is lost, none comes twice', async () => {
    let connections = 0
    const follow: Follow = async function* (query) {
      connections += 1
      const rest = entries.filter(({ sequence }) => sequence > Number(query.get('after')))
      yield rest.slice(0, 150)
      if (connections % 3 === 0) throw new AppError('unavailable', 'the platform restarts')
      yield rest.length <= 400 ? [...rest.slice(150), { readThrough: 2500, end: true }] : rest.slice(150, 400)
    }
    const read: number[] = []
    for await (const batch of streamEntries(contextOf(follow), { after: 0 })) read.push(...batch.map(({ sequence }) => sequence))
    expect(read).toEqual(entries.map(({ sequence }) => sequence))
    expect(connections).toBe(8)
  })

  test.each([
    ['earlier entries again', [entries[4], entries[3]], 'integrity_violation'],
    ['what it sent before', [entries[4], entries[4]], 'integrity_violation'],
    ['a log that has lost what was read', [entries[4], { shortenedTo: 2 }], 'log_truncated'],
    ['something else', [{ hello: 1 }], 'integrity_violation'],
  ])('ends with %s', async (_name, values, code) => {
    const follow: Follow = async function* () {
      yield values
    }
    const read: Entry[] = []
    const reading = async () => {
      for await (const batch of streamEntries(contextOf(follow), { after: 0 })) read.push(...batch)
    }
    await expect(reading()).rejects.toMatchObject({ code })
    // What came before it is not lost with it: the first alteration is named.
    expect(read).toEqual(values.slice(0, -1))
  })
})
