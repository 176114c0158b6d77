import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFairTurns } from './fair-turns.ts'

/** Who has a worker, in the order of their turns; nobody gives one back unless the test says so. */
function observed(workers: number) {
  const turns = createFairTurns(workers)
  const holders: { readonly tenant: string; readonly done: () => void }[] = []
  const ask = async (tenant: string): Promise<void> => {
    await turns.run(tenant, () => new Promise<void>(done => holders.push({ tenant, done })))
  }
  return { ask, holders, settled: () => new Promise(resolve => setImmediate(resolve)) }
}

test('a tenant whose charts never end leaves a worker for the others, who take turns', async () => {
  const { ask, holders, settled } = observed(3)
  for (let asked = 0; asked < 50; asked += 1) void ask('slow')
  for (let asked = 0; asked < 3; asked += 1) for (const tenant of ['a', 'b']) void ask(tenant)
  await settled()
  const served: string[] = []
  for (let turn = 0; turn < 6; turn += 1) {
    const other = holders.findIndex(({ tenant }) => tenant !== 'slow')
    const [holder] = holders.splice(other, 1)
    served.push(holder?.tenant ?? '')
    holder?.done()
    await settled()
  }
  expect(served.sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
  expect(holders.map(({ tenant }) => tenant)).toEqual(['slow', 'slow'])
})

test('one worker serves everybody, one at a time', async () => {
  const { ask, holders, settled } = observed(1)
  for (const tenant of ['a', 'a', 'b']) void ask(tenant)
  await settled()
  const served: string[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    const holder = holders.shift()
    served.push(holder?.tenant ?? '')
    holder?.done()
    await settled()
  }
  expect(served).toEqual(['a', 'a', 'b'])
})

test('what waits of one tenant is bounded, and nobody else is refused', async () => {
  const turns = createFairTurns(2)
  // One has a worker and a hundred wait.
  for (let asked = 0; asked < 101; asked += 1) void turns.run('flood', () => new Promise(() => {}))
  await expect(turns.run('flood', async () => 1)).rejects.toThrow('wait already')
  await expect(turns.run('other', async () => 1)).resolves.toBe(1)
})

test('in any order of requests and ends: no more than the workers, never all of one tenant, and everybody is served', async () => {
  const step = fc.oneof(
    fc.constantFrom('a', 'b', 'c').map(tenant => ({ tenant })),
    fc.nat(10).map(end => ({ end })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (steps, workers) => {
      const { ask, holders, settled } = observed(workers)
      let asked = 0
      let ended = 0
      const endAt = (index: number): void => {
        const [holder] = holders.splice(index % holders.length, 1)
        holder?.done()
        if (holder) ended += 1
      }
      const check = async (): Promise<void> => {
        await settled()
        expect(holders.length).toBeLessThanOrEqual(workers)
        for (const tenant of ['a', 'b', 'c'])
          expect(holders.filter(holder => holder.tenant === tenant).length).toBeLessThanOrEqual(Math.max(1, workers - 1))
      }
      for (const one of steps) {
        if ('tenant' in one) {
          asked += 1
          void ask(one.tenant)
        } else if (holders.length > 0) endAt(one.end)
        await check()
      }
      while (holders.length > 0) {
        endAt(0)
        await check()
      }
      expect(ended).toBe(asked)
    }),
  )
})
