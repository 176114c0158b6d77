// What `sekisho keys` shows and waits for, against a platform that is sealing again.
import { expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import type { CommandContext } from './context.ts'
import { keysReseal, keysStatus } from './keys.ts'

function platform(answers: readonly (readonly [former: number, unknown?: number])[], problems: readonly string[] = []) {
  const clock = movableClock()
  let asked = 0
  const printed: string[] = []
  const said: string[] = []
  const json = async () => {
    const [former, unknownKey = 0] = answers[Math.min(asked, answers.length - 1)] ?? [0]
    asked += 1
    const keys = [
      { fingerprint: '5d1c6f0e', use: 'seals', rows: 7 },
      { fingerprint: 'a90b2c44', use: 'opens', rows: former },
    ]
    return { processes: [{ process: 'broker', countedAt: '2026-01-01T00:00:00.000Z', keys, unknownKey }], problems }
  }
  const sleeping = { ...clock, sleep: async (milliseconds: number) => clock.advance(milliseconds / 1000) }
  const context = {
    terminal: { result: (text: string) => void printed.push(text) },
    say: (text: string) => void said.push(text),
    clock: sleeping,
    api: async () => ({ json }),
  } as unknown as CommandContext
  return { context, printed, said, asked: () => asked }
}

test('a former key can be removed only when it sealed nothing any more', async () => {
  const [busy, done] = [platform([[3]]), platform([[0]])]
  await keysStatus(busy.context, { output: 'table' })
  await keysStatus(done.context, { output: 'table' })
  expect(busy.printed[0]).toMatch(/a90b2c44\s+opens\s+3\s+\S+\s+still needed/)
  expect(done.printed[0]).toMatch(/a90b2c44\s+opens\s+0\s+\S+\s+can be removed/)
})

test.each(['table', 'json'] as const)('status names what is wrong with the keys, as %s', async output => {
  const shared = platform([[0]], ['the broker and the controllers seal with the same key'])
  await keysStatus(shared.context, { output })
  expect(shared.printed[0]).toContain('5d1c6f0e')
  expect(shared.said).toEqual(['problem: the broker and the controllers seal with the same key'])
  const earlier = platform([[0]])
  await keysStatus(earlier.context, { output })
  expect(earlier.said).toEqual([])
})

test('reseal waits until nothing is left; a dry run asks once', async () => {
  const waiting = platform([[30], [12], [0]])
  await keysReseal(waiting.context, { output: 'table', timeout: '60' })
  expect(waiting.asked()).toBe(3)
  const dry = platform([[30]])
  await keysReseal(dry.context, { output: 'json', timeout: '60', dryRun: true })
  expect(JSON.parse(dry.printed[0] ?? '')).toMatchObject({ dryRun: true, toSeal: 30 })
  expect(dry.asked()).toBe(1)
})

test('reseal fails when it takes too long, and when a key is missing', async () => {
  await expect(keysReseal(platform([[1]]).context, { output: 'table', timeout: '5' })).rejects.toMatchObject({
    code: 'unavailable',
  })
  const missing = keysReseal(platform([[0, 2]]).context, { output: 'table', timeout: '5' })
  await expect(missing).rejects.toThrow('add the key that sealed them')
})
