// The run itself: an attempt that fails, hangs, or is stopped by another layer than expected is unclear; so is an attack with
// nothing to try.
import { expect, test } from 'vitest'
import type { Attack } from './attack.ts'
import { attacks } from './list.ts'
import { attackLines, goalLines, outcomeLines, summarize } from './report.ts'
import { expectedOnly, runAttacks } from './run.ts'
import { stopped, succeeded, unclear, type Verdict } from './verdict.ts'
import { createWatcher } from './world/watcher.ts'
import type { World } from './world/world.ts'

const world = {} as World
const options = { atOnce: 2, signal: new AbortController().signal, onAttack: () => {} }

function attack(attempts: Attack['attempts']): Attack {
  return { name: 'a/b', as: 'x', against: 'y', tries: 'z', expected: ['RBAC'], attempts }
}

test('an attempt that throws is unclear, never stopped', async () => {
  const attempts = () => [{ name: 'x', run: () => Promise.reject(new Error('ECONNRESET')) }]
  const { results } = await runAttacks(world, [attack(attempts)], options)
  expect(results[0]).toMatchObject({ outcome: 'unclear', evidence: 'the attempt failed: ECONNRESET' })
})

test('a preparation that fails and an attack without attempts are unclear', async () => {
  const broken = attack(() => Promise.reject(new Error('no pod')))
  const { results } = await runAttacks(world, [broken, attack(() => [])], options)
  expect(results.map(({ outcome }) => outcome)).toEqual(['unclear', 'unclear'])
})

test('what is unclear is repeated once with nothing beside it; what succeeded is not, nor are many', async () => {
  let count = 0
  const answers = (...verdicts: readonly Verdict[]): Attack => {
    const waiting = [...verdicts]
    const run = async (): Promise<Verdict> => {
      count += 1
      return waiting.shift() ?? succeeded('asked too often')
    }
    return attack(() => [{ name: 'x', run }])
  }
  const late = unclear('no verdict within 60 s')
  const flaky = await runAttacks(world, [answers(late, stopped('RBAC', '403'))], options)
  expect(flaky.results.map(({ outcome }) => outcome)).toEqual(['stopped'])
  expect(outcomeLines(flaky)).toEqual(['flaky: a/b > x: unclear: no verdict within 60 s'])
  const failed = await runAttacks(world, [answers(late, late)], options)
  expect(outcomeLines(failed)).toEqual(['failed: a/b > x: unclear: no verdict within 60 s'])
  const open = await runAttacks(world, [answers(succeeded('201'), stopped('RBAC', '403'))], options)
  expect(outcomeLines(open)).toEqual(['failed: a/b > x: succeeded: 201'])
  count = 0
  await runAttacks(
    world,
    Array.from({ length: 5 }, () => answers(late)),
    options,
  )
  expect(count).toBe(5)
})

test('a stop by another layer than expected is unclear', () => {
  expect(expectedOnly(stopped('schema', 'x'), ['RBAC'])).toMatchObject({ outcome: 'unclear' })
  expect(expectedOnly(stopped('RBAC', 'x'), ['RBAC'])).toMatchObject({ outcome: 'stopped' })
  expect(expectedOnly(succeeded('x'), ['RBAC'])).toMatchObject({ outcome: 'succeeded' })
})

test('an attack that is alone has nothing beside it, and the order of the results is that of the attacks', async () => {
  let running = 0
  const seen: string[] = []
  const named = (name: string, alone?: true): Attack => ({
    ...attack(() => [
      {
        name: 'x',
        async run() {
          running += 1
          await new Promise(resolve => setImmediate(resolve))
          seen.push(`${name} ${running}`)
          running -= 1
          return stopped('RBAC', 'x')
        },
      },
    ]),
    name,
    ...(alone ? { alone } : {}),
  })
  const { results } = await runAttacks(world, [named('a/a'), named('b/b'), named('c/c', true), named('d/d')], options)
  expect(results.map(result => result.attack)).toEqual(['a/a', 'b/b', 'c/c', 'd/d'])
  expect(seen).toContain('a/a 2')
  expect(seen.slice(2)).toEqual(['c/c 1', 'd/d 1'])
})

test('the report counts by layer and shows every attempt that was not stopped', async () => {
  const mixed = attack(() => [
    { name: 'one', run: async () => stopped('RBAC', '403') },
    { name: 'two', run: async () => succeeded('201 Service x') },
  ])
  const { results } = await runAttacks(world, [mixed], options)
  expect(summarize(results)).toEqual({ attacks: 1, attempts: 2, stopped: 1, stoppedBy: { RBAC: 1 }, succeeded: 1, unclear: 0 })
  expect(attackLines('a/b', results)).toMatch(
    /^SUCCEEDED +a\/b +2 tried; stopped by RBAC 1\n +SUCCEEDED {2}two\n +201 Service x$/,
  )
})

test('attacks have names of their own, and say whom they attack', () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length)
  for (const { name, as, against, tries, expected } of attacks) {
    expect(name).toMatch(/^[a-z]+\/[a-z-]+$/)
    for (const text of [as, against, tries]) expect(text.length).toBeGreaterThan(3)
    expect(tries).toMatch(/\.$/)
    expect(expected.length).toBeGreaterThan(0)
  }
})

test('the watcher finds the canary in every encoding, and tokens', () => {
  const watcher = createWatcher()
  const canary = 'canary-0123456789-abcdefghijklmnop'
  watcher.watchFor(canary)
  const texts = [
    canary,
    Buffer.from(canary).toString('hex'),
    ...['', 'a', 'ab'].map(before => Buffer.from(`${before}${canary}after`).toString('base64')),
  ]
  texts.forEach((text, index) => {
    watcher.see(`place ${index}`, `before ${text} after`)
  })
  watcher.see('log', `x-access-token:ghs_${'a'.repeat(36)}@github.com`)
  watcher.see('clean', 'ghs_… and canary')
  expect(watcher.sightings().map(({ place, what }) => `${place} ${what}`)).toEqual([
    'place 0 canary',
    'place 1 canary',
    'place 2 canary',
    'place 3 canary',
    'place 4 canary',
    'log token',
  ])
})

test('a run that took longer than the goal says so, unless floods of a minute were in it', () => {
  expect(goalLines(360, false)).toEqual([])
  expect(goalLines(372.4, false)).toEqual(['slow: 372 s, and the goal of all attacks without floods is at most 360 s'])
  expect(goalLines(1200, true)).toEqual([])
})
