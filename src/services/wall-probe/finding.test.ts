// What stands after a round: a wall is off until it is found to hold, and silence proves nothing.
import { expect, test } from 'vitest'
import { type Finding, findingsFor, judgeRound, type Place, type Round, type UnknownRounds, wallsOff } from './finding.ts'
import { recordedWalls, recordOf } from './record.ts'
import type { WallName } from './walls.ts'

const off = (wall: WallName, where?: string): Finding => ({
  wall,
  verdict: 'Off',
  text: 'it let me through',
  ...(where === undefined ? {} : { where }),
})
const unknown = (wall: WallName): Finding => ({ wall, verdict: 'Unknown', text: 'HTTP 503' })
const anywhere = { unknownRounds: new Map(), exists: () => true }
const round = (looked: readonly Place[], ...findings: readonly Finding[]) => ({ looked, findings })
const secrets = (where?: string): Place => (where === undefined ? { wall: 'secrets' } : { wall: 'secrets', where })

test('a wall that does not answer is unknown at first, then off, and the text says why', () => {
  let unknownRounds: UnknownRounds = new Map()
  let findings: readonly Finding[] = []
  const next = (found: Round): void => {
    const judged = judgeRound({ findings, unknownRounds, exists: () => true }, found)
    unknownRounds = judged.unknownRounds
    findings = judged.findings
  }
  for (const verdict of ['Unknown', 'Unknown', 'Off']) {
    next(round([secrets()], unknown('secrets')))
    expect(findings.map(one => one.verdict)).toEqual([verdict])
  }
  expect(findings[0]?.text).toBe('it could not be looked at for 3 rounds: HTTP 503')
  next(round([secrets()], unknown('secrets')))
  expect(findings.map(one => one.verdict)).toEqual(['Off'])
  next(round([secrets()]))
  expect([findings, unknownRounds.size]).toEqual([[], 0])
  next(round([secrets()], unknown('secrets')))
  expect(findings.map(one => one.verdict)).toEqual(['Unknown'])
})

test('a wall that was off in a place stays off there until that place is looked at, also for a new leader', () => {
  const before = { ...anywhere, findings: [off('secrets', 'acme'), off('secrets', 'globex')] }
  const after = (...found: readonly Finding[]) => judgeRound(before, round([secrets(), secrets('acme')], ...found)).findings
  expect(after()).toEqual([off('secrets', 'globex')])
  expect(after({ ...unknown('secrets'), where: 'acme' })).toEqual(before.findings)
  expect(judgeRound(before, round([])).findings).toEqual(before.findings)
  expect(judgeRound({ ...before, exists: name => name === 'acme' }, round([])).findings).toEqual([off('secrets', 'acme')])
})

test('what was unknown in a place stays so while nobody looks there, and goes on being counted', () => {
  const where = 'acme'
  const first = judgeRound({ ...anywhere, findings: [] }, round([], { ...unknown('secrets'), where }))
  const second = judgeRound({ ...anywhere, ...first }, round([secrets()]))
  expect([second.findings, [...second.unknownRounds.values()]]).toEqual([first.findings, [1]])
  const gone = judgeRound({ ...anywhere, ...second, exists: () => false }, round([secrets()]))
  expect([gone.findings, gone.unknownRounds.size]).toEqual([[], 0])
})

test('what is off in one place does not hide what is unknown in another', () => {
  const judged = judgeRound({ ...anywhere, findings: [] }, round([secrets()], unknown('secrets'), off('secrets', 'acme')))
  expect(judged.findings).toEqual([unknown('secrets'), off('secrets', 'acme')])
  expect([...wallsOff(judged.findings).keys()]).toEqual(['secrets'])
})

test('findings of one place and texts are bounded, and no tenant hides another', () => {
  const of = (where: string) => Array.from({ length: 100 }, () => ({ ...off('pod-security', where), text: 'x'.repeat(10_000) }))
  const all = Array.from({ length: 300 }, (_, index) => of(`n${index}`)).flat()
  const { findings } = judgeRound({ ...anywhere, findings: [] }, round([], ...all))
  expect([findings.length, findings[0]?.text.length]).toEqual([1500, 300])
  expect(recordedWalls(recordOf(findings))).toMatchObject({ findings: { length: 1000 }, more: 500 })
})

test('a Tenant is told of the whole cluster and of its own namespaces', () => {
  const all = [off('validating-policies'), off('secrets', 'acme'), off('secrets', 'globex')]
  expect(findingsFor(all, ['acme', 'acme-build'])).toEqual(all.slice(0, 2))
})

test('a record is read as it was written; anything else is no record', () => {
  const all = [off('validating-policies'), off('secrets', 'acme'), unknown('tenants')]
  const record = recordOf(all)
  expect(record.data.state).toBe('Off')
  expect(recordedWalls(record)).toEqual({ findings: all, more: 0 })
  expect([recordOf([unknown('tenants')]).data.state, recordOf([]).data.state]).toEqual(['Unknown', 'Holds'])
  expect(recordedWalls(recordOf([]))).toEqual({ findings: [], more: 0 })
  for (const findings of ['{}', 'x', '{"wall":"none","verdict":"Off","text":"x"}', undefined])
    expect(recordedWalls({ ...record, data: findings === undefined ? {} : { findings } })).toBeUndefined()
  expect(recordedWalls(undefined)).toBeUndefined()
})
