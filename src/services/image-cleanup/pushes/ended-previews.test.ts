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

test('what exists is left alone; what has ended is looked at at once, soon for two minutes, ever later, and at last by the ordinary looks', async () => {
  const { state, round } = start(['a', 'b'])
  expect(await round(5)).toEqual([])
  state.present.delete('b')
  expect(await round(5)).toEqual(['b'])
  expect(await round(4)).toEqual([])
  expect(await round(1)).toEqual(['b'])
  const end = state.now - 5_000
  const looks: number[] = [0, 5]
  while (state.now - end < 100 * 3_600_000) if ((await round(5)).length > 0) looks.push((state.now - end) / 1000)
  const quick = Array.from({ length: 24 }, (_, index) => index * 5)
  expect(looks).toEqual([...quick, 125, 145, 185, 265, 425, 745, 1385, 2665])
})

test('a preview whose pods end after half a minute is looked at again right then', async () => {
  const { state, round } = start(['a'])
  await round(5)
  state.present.clear()
  const end = state.now + 5_000
  const after: number[] = []
  for (let rounds = 0; rounds < 9; rounds++) if ((await round(5)).length > 0) after.push((state.now - end) / 1000)
  // The image is named until then, and looked at twice, five seconds apart, before it goes.
  expect(after.filter(seconds => seconds >= 30 && seconds <= 40)).toEqual([30, 35, 40])
})

test('what had ended before the process started is looked at at once, and then less often', async () => {
  const { state, round } = start(['a'])
  state.present.clear()
  expect(await round(5)).toEqual(['a'])
  expect([await round(5), await round(5), await round(15), await round(5)]).toEqual([[], ['a'], [], ['a']])
})

test('what ends now has its turn before what is looked at again and again', async () => {
  const { state, round } = start(Array.from({ length: 40 }, (_, index) => `uid-${index}`))
  await round(5)
  const latest = state.owners.at(-1) ?? ''
  state.present = new Set([latest])
  for (let rounds = 0; rounds < 12; rounds++) await round(5)
  state.present.clear()
  expect(await round(5)).toContain(latest)
})

test('of many that end at once, five are looked at in a round, and each has its turn', async () => {
  const { state, round } = start(Array.from({ length: 23 }, (_, index) => `uid-${index}`))
  await round(5)
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
