// What stands after a round: a wall is off until it is found to hold, and silence proves nothing.
import { expect, test } from 'vitest'
import { type Finding, findingsFor, judgeRound, type UnknownRounds, wallsOff } from './finding.ts'
import { recordedWalls, recordOf } from './record.ts'
import type { WallName } from './walls.ts'

const off = (wall: WallName, where?: string): Finding => ({
  wall,
  verdict: 'Off',
  text: 'it let me through',
  ...(where === undefined ? {} : { where }),
})
const unknown = (wall: WallName): Finding => ({ wall, verdict: 'Unknown', text: 'HTTP 503' })
const round = (walls: readonly WallName[], ...findings: readonly Finding[]) => ({ looked: new Set(walls), findings })

test('a wall that does not answer is unknown at first, then off, and the text says why', () => {
  let rounds: UnknownRounds = new Map()
  let findings: readonly Finding[] = []
  const next = (found: Parameters<typeof judgeRound>[2]): void => {
    const judged = judgeRound(findings, rounds, found)
    rounds = judged.unknownRounds
    findings = judged.findings
  }
  for (const verdict of ['Unknown', 'Unknown', 'Off']) {
    next(round(['secrets'], unknown('secrets')))
    expect(findings.map(one => one.verdict)).toEqual([verdict])
  }
  expect(findings[0]?.text).toBe('it could not be looked at for 3 rounds: HTTP 503')
  next(round(['secrets'], unknown('secrets')))
  expect(findings.map(one => one.verdict)).toEqual(['Off'])
  next(round(['secrets']))
  expect([findings, rounds.size]).toEqual([[], 0])
  next(round(['secrets'], unknown('secrets')))
  expect(findings.map(one => one.verdict)).toEqual(['Unknown'])
})

test('a wall that was off stays off while it does not answer, also for a new leader', () => {
  const before = [off('secrets', 'acme')]
  expect(judgeRound(before, new Map(), round(['secrets'], unknown('secrets'))).findings).toEqual(before)
})

test('what was found counts more than what is unknown beside it', () => {
  const judged = judgeRound([], new Map(), round(['secrets'], unknown('secrets'), off('secrets', 'acme')))
  expect(judged.findings).toEqual([off('secrets', 'acme')])
  expect(wallsOff(judged.findings)).toEqual(new Set(['secrets']))
})

test('a wall with nothing to look at is not said to be off', () => {
  expect(judgeRound([off('pod-security', 'gone')], new Map(), round([])).findings).toEqual([])
})

test('findings and texts are bounded, however many and long they are', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ ...off('pod-security', `n${index}`), text: 'x'.repeat(10_000) }))
  const { findings } = judgeRound([], new Map(), round(['pod-security'], ...many))
  expect([findings.length, findings[0]?.text.length]).toEqual([10, 300])
})

test('a Tenant is told of the whole cluster and of its own namespaces', () => {
  const all = [off('validating-policies'), off('secrets', 'acme'), off('secrets', 'globex')]
  expect(findingsFor(all, ['acme', 'acme-build'])).toEqual(all.slice(0, 2))
})

test('a record is read as it was written; anything else is no record', () => {
  const all = [off('validating-policies'), off('secrets', 'acme'), unknown('tenants')]
  const record = recordOf(all)
  expect(record.data.state).toBe('Off')
  expect(recordedWalls(record)).toEqual({ findings: all })
  expect([recordOf([unknown('tenants')]).data.state, recordOf([]).data.state]).toEqual(['Unknown', 'Holds'])
  expect(recordedWalls(recordOf([]))).toEqual({ findings: [] })
  for (const findings of ['{}', 'x', '{"wall":"none","verdict":"Off","text":"x"}', undefined])
    expect(recordedWalls({ ...record, data: findings === undefined ? {} : { findings } })).toBeUndefined()
  expect(recordedWalls(undefined)).toBeUndefined()
})
