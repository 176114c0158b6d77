// What a read may be shared by: only by those who asked before it began.
import { describe, expect, test } from 'vitest'
import { FollowingFlight } from './single-flight.ts'

/** Runs that the test ends, in the order in which they began. */
function heldRuns() {
  const runs: PromiseWithResolvers<number>[] = []
  const work = (): Promise<number> => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  }
  return { runs, work }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

describe('FollowingFlight', () => {
  test('whoever asks while a run is under way shares the next one, which begins when that has ended', async () => {
    const { runs, work } = heldRuns()
    const flights = new FollowingFlight<number>()
    const first = flights.run('a', work)
    const [second, third] = [flights.run('a', work), flights.run('a', work)]
    await turn()
    expect(runs).toHaveLength(1)
    runs[0]?.resolve(1)
    expect(await first).toBe(1)
    await turn()
    expect(runs).toHaveLength(2)
    const fourth = flights.run('a', work)
    runs[1]?.resolve(2)
    expect([await second, await third]).toEqual([2, 2])
    await turn()
    expect(runs).toHaveLength(3)
    runs[2]?.resolve(3)
    expect(await fourth).toBe(3)
  })

  test('another key does not wait, and one that nobody uses any more begins at once', async () => {
    const { runs, work } = heldRuns()
    const flights = new FollowingFlight<number>()
    const [a, b] = [flights.run('a', work), flights.run('b', work)]
    expect(runs).toHaveLength(2)
    for (const run of runs) run.resolve(1)
    await Promise.all([a, b])
    await turn()
    const again = flights.run('a', work)
    expect(runs).toHaveLength(3)
    runs[2]?.resolve(2)
    expect(await again).toBe(2)
  })

  test('a run that fails fails those who share it and nobody after them', async () => {
    const { runs, work } = heldRuns()
    const flights = new FollowingFlight<number>()
    const first = flights.run('a', work)
    const next = flights.run('a', work)
    runs[0]?.reject(new Error('no answer'))
    await expect(first).rejects.toThrow('no answer')
    await turn()
    runs[1]?.resolve(2)
    expect(await next).toBe(2)
  })
})
