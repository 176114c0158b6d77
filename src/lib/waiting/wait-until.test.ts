import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { contendedMilliseconds, type Machine } from './granted-time.ts'
import { limits, machineFactor, timeLimit } from './limits.ts'
import { Hopeless, waitUntil } from './wait-until.ts'

/** A machine whose time passes in pauses only; `contention` of each of them is spent waiting for a processor. */
function playedMachine({ factor = 1, contention = 0 } = {}) {
  let [now, contended] = [1_000_000, 5000]
  const stall = (milliseconds: number, share = 1): void => {
    now += milliseconds
    contended += milliseconds * share
  }
  const machine: Machine = {
    now: () => now,
    contended: () => contended,
    factor,
    pause: async milliseconds => stall(milliseconds, contention),
  }
  return { machine, stall, seconds: () => (now - 1_000_000) / 1000 }
}

const never = (): undefined => undefined
const tenSeconds = 10_000

test('undefined, false and exceptions are not yet; the first value is the result', async () => {
  const { machine } = playedMachine()
  const answers = [() => undefined, () => false as const, () => Promise.reject(new Error('refused')), () => 0]
  expect(await waitUntil('a number', async () => await answers.shift()?.(), { machine })).toBe(0)
  expect(await waitUntil('a condition', () => 1 < 2, { machine })).toBe(true)
})

test.each([
  ['a free machine', {}, 10],
  ['half the speed', { factor: 2 }, 20],
  ['processors that are contended half of the time', { contention: 0.5 }, 20],
  ['both', { factor: 2, contention: 0.25 }, 26.7],
  ['processors that are always contended: four times the limit', { contention: 1 }, 40],
  ['a factor that is at the bound', { factor: 4, contention: 1 }, 40],
])('the limit is granted time: %s', async (_, machine, seconds) => {
  const played = playedMachine(machine)
  const options = { machine: played.machine, timeoutMilliseconds: tenSeconds }
  await expect(waitUntil('nothing', never, options)).rejects.toMatchObject({ code: 'unavailable' })
  expect(Math.abs(played.seconds() - seconds)).toBeLessThan(0.3)
})

test('a machine that stalls during a look or a pause takes nothing from the limit', async () => {
  const played = playedMachine()
  let looks = 0
  const check = (): boolean => {
    looks += 1
    if (looks === 3) played.stall(25_000)
    return played.seconds() > 33
  }
  expect(await waitUntil('the product', check, { machine: played.machine, timeoutMilliseconds: tenSeconds })).toBe(true)
})

test('a stall that nobody counted is followed by one more look', async () => {
  const played = playedMachine()
  let looks = 0
  const check = (): boolean => {
    looks += 1
    if (looks === 1) played.stall(60_000, 0)
    return looks === 2
  }
  expect(await waitUntil('the product', check, { machine: played.machine, timeoutMilliseconds: tenSeconds })).toBe(true)
})

test('the error says what was awaited, how long, and what was last seen', async () => {
  const { machine } = playedMachine({ contention: 0.5, factor: 1 })
  const messageOf = (check: Parameters<typeof waitUntil>[1]): Promise<unknown> =>
    waitUntil('the Tenant to be Ready', check, { machine, timeoutMilliseconds: tenSeconds }).catch(
      (error: Error) => error.message,
    )
  expect(await messageOf(never)).toMatch(
    /^waited 20\.\d s, of which the machine granted 10\.\d of 10 s, for the Tenant to be Ready: not yet$/,
  )
  expect(await messageOf(() => Promise.reject(new Error('ECONNREFUSED')))).toMatch(/: ECONNREFUSED$/)
  expect(await messageOf(seen => seen({ ready: 'False' }).ready === 'True')).toMatch(/: last seen: \{ ready: 'False' \}$/)
  expect(
    await messageOf(seen => {
      throw new Error(`no ${seen('pod-1')}`)
    }),
  ).toMatch(/: no pod-1; last seen: pod-1$/)
  expect(await messageOf(() => Promise.reject(new Error('y'.repeat(10_000))))).toMatch(/: y{10000}$/)
  expect(await messageOf(seen => seen('x'.repeat(10_000)) === '')).toMatch(/: last seen: x{600}…$/)
})

test('what is hopeless ends the wait at once', async () => {
  const { machine, seconds } = playedMachine()
  const gaveUp = waitUntil('an answer', never, { machine, hopeless: async () => 'the process has ended' })
  await expect(gaveUp).rejects.toThrow('gave up waiting for an answer: the process has ended')
  const failed = waitUntil('an answer', () => Promise.reject(new Hopeless('the build failed')), { machine })
  await expect(failed).rejects.toThrow('the build failed')
  expect(seconds()).toBe(0)
})

test('a look that does not end is given up, too', async () => {
  const shortest = 30
  const hung = waitUntil('an answer', () => new Promise<true>(() => {}), { timeoutMilliseconds: shortest })
  await expect(hung).rejects.toThrow(/^waited .* of 0\.03 s, for an answer: one look has not ended$/)
})

test('the first looks follow each other quickly, then each `everyMilliseconds`', async () => {
  const { machine } = playedMachine()
  const pauses: number[] = []
  const pause = async (milliseconds: number): Promise<void> => void pauses.push(milliseconds)
  await waitUntil('six looks', () => pauses.length === 6, { machine: { ...machine, pause }, everyMilliseconds: 60 })
  expect(pauses).toEqual([5, 10, 20, 40, 60, 60])
})

test('contention is read where the kernel counts it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sekisho-pressure-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'cpu')
  const counted = 'some avg10=3.77 avg60=1.73 avg300=22.70 total=26507861551\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n'
  writeFileSync(file, counted)
  expect(contendedMilliseconds(file)).toBe(26_507_861.551)
  writeFileSync(file, 'nothing of the kind')
  expect(contendedMilliseconds(file)).toBe(0)
  expect(contendedMilliseconds(join(folder, 'absent'))).toBe(0)
})

test('the factor is between 1 and 4, and 1 when it was not measured', () => {
  const factors = [undefined, '', 'fast', '0.5', '1.7', '9'].map(value => machineFactor({ SEKISHO_MACHINE_FACTOR: value }))
  expect(factors).toEqual([1, 1, 1, 1, 1.7, 4])
})

test('a test has more time than one wait in it at its bound', () => {
  expect(timeLimit(1000)).toBeGreaterThan(4 * limits.usual)
  expect(timeLimit(1000, limits.build) - timeLimit(1000)).toBe(4 * (limits.build - limits.usual))
})
