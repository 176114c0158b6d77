// Which previews have ended, how often their images are looked at, and how many at once.
import { expect, test } from 'vitest'
import { createEndedPreviews } from './ended-previews.ts'

function start(owners: readonly string[]) {
  const state = { now: 0, owners, present: new Set(owners) }
  const hastened: (readonly string[])[] = []
  const endPreviews = createEndedPreviews({
    images: {
      previewOwners: async () => state.owners,
      async hasten(_registry, found, lookAt) {
        expect(lookAt.getTime()).toBe(state.now)
        hastened.push(found)
      },
    },
    remoteSyncs: () => state.present,
    clock: { now: () => new Date(state.now) },
  })
  const round = async (seconds: number): Promise<readonly string[]> => {
    state.now += seconds * 1000
    hastened.length = 0
    await endPreviews('r.example.com')
    return hastened.flat()
  }
  return { state, round }
}

test('what exists is left alone; what has ended is looked at at once, and again ever later, until the ordinary looks suffice', async () => {
  const { state, round } = start(['a', 'b'])
  expect(await round(5)).toEqual([])
  state.present.delete('b')
  expect(await round(5)).toEqual(['b'])
  expect(await round(4)).toEqual([])
  expect(await round(1)).toEqual(['b'])
  expect(await round(9)).toEqual([])
  expect(await round(1)).toEqual(['b'])
  let looks = 3
  for (let hours = 0; hours < 100; hours++) looks += (await round(3600)).length
  expect(looks).toBe(10)
})

test('of many that end at once, five are looked at in a round, and each has its turn', async () => {
  const { state, round } = start(Array.from({ length: 23 }, (_, index) => `uid-${index}`))
  state.present.clear()
  const seen = new Set<string>()
  for (let rounds = 0; rounds < 20; rounds++) {
    const found = await round(5)
    expect(found.length).toBeLessThanOrEqual(5)
    for (const uid of found) {
      seen.add(uid)
      // Its images are gone.
      if (rounds % 2 === 1) state.owners = state.owners.filter(owner => owner !== uid)
    }
  }
  expect(seen.size).toBe(23)
})
