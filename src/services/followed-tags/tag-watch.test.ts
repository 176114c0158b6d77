// When registries are asked about tags: the figures that the documentation states.
import { describe, expect, test } from 'vitest'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { followedRegistry } from './followed-registry.ts'
import type { FollowedTag, TagAnswer } from './read-tag.ts'
import { createTagWatch } from './tag-watch.ts'

const minute = 60_000
const every = 5 * minute
const of = (repository: string, host = 'ghcr.io'): FollowedTag => ({ registry: followedRegistry(host), repository, tag: 'v1' })
const digest = (character: string): TagAnswer => ({ kind: 'digest', digest: `sha256:${character.repeat(64)}` })
const away: TagAnswer = { kind: 'unreadable', message: 'answered 503' }

/** A registry that answers when the test lets it. */
function watch() {
  const clock = createFakeClock()
  const asked: string[] = []
  const open: ((answer: TagAnswer) => void)[] = []
  const tags = createTagWatch({
    clock,
    everyMilliseconds: every,
    read({ registry, repository }) {
      asked.push(`${registry.host}/${repository}`)
      return new Promise(resolve => open.push(resolve))
    },
  })
  const answer = async (value: TagAnswer): Promise<void> => {
    await settle()
    open.shift()?.(value)
    await settle()
  }
  const news: string[] = []
  tags.onChange(name => news.push(name))
  return { clock, asked, open, answer, news, stateOf: tags.stateOf }
}

describe('one tag', () => {
  test('is asked about once for all who follow it, every five minutes give or take 10 %', async () => {
    const { clock, asked, answer, stateOf } = watch()
    for (const tenant of ['acme', 'acme', 'globex'])
      expect(stateOf(of('acme/shop'), tenant)).toMatchObject({ digest: undefined, problem: undefined })
    await answer(digest('a'))
    const { requeueAfterMilliseconds, ...known } = stateOf(of('acme/shop'), 'globex')
    expect(known).toEqual({ digest: `sha256:${'a'.repeat(64)}`, problem: undefined })
    expect(requeueAfterMilliseconds).toBeGreaterThanOrEqual(4.5 * minute)
    expect(requeueAfterMilliseconds).toBeLessThanOrEqual(5.5 * minute)
    await clock.advance(requeueAfterMilliseconds - 1)
    stateOf(of('acme/shop'), 'acme')
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect(stateOf(of('acme/shop'), 'acme')).toMatchObject({ digest: `sha256:${'a'.repeat(64)}` })
    await settle()
    expect(asked).toEqual(['ghcr.io/acme/shop', 'ghcr.io/acme/shop'])
    await answer(digest('b'))
    expect(stateOf(of('acme/shop'), 'acme')).toMatchObject({ digest: `sha256:${'b'.repeat(64)}` })
  })

  test('wakes its followers when an answer says something new, and only then', async () => {
    const { clock, open, answer, news, stateOf } = watch()
    const answers = [
      [digest('a'), 1],
      [digest('a'), 1],
      [digest('b'), 2],
      [away, 3],
      [away, 3],
      [digest('b'), 4],
    ] as const
    for (const [said, count] of answers) {
      // A follower that is not woken looks again in time for the next request.
      for (let look = 0; look < 3 && open.length === 0; look++) {
        const { requeueAfterMilliseconds } = stateOf(of('acme/shop'), 'acme')
        await settle()
        if (open.length === 0) await clock.advance(requeueAfterMilliseconds)
      }
      await answer(said)
      expect(news).toEqual(Array(count).fill('ghcr.io/acme/shop:v1'))
    }
  })

  test('keeps what it meant while the registry is away, and is asked about less and less often, up to an hour', async () => {
    const { clock, answer, stateOf } = watch()
    stateOf(of('acme/shop'), 'acme')
    await answer(digest('a'))
    const waits: number[] = []
    for (let failure = 0; failure < 7; failure++) {
      await clock.advance(stateOf(of('acme/shop'), 'acme').requeueAfterMilliseconds)
      stateOf(of('acme/shop'), 'acme')
      await answer(away)
      const state = stateOf(of('acme/shop'), 'acme')
      expect(state).toMatchObject({ digest: `sha256:${'a'.repeat(64)}`, problem: 'answered 503' })
      waits.push(Math.round(state.requeueAfterMilliseconds / minute))
    }
    const [first = 0, second = 0, third = 0] = waits
    expect([second / first, third / first].map(Math.round)).toEqual([2, 4])
    expect(waits.at(-1)).toBe(waits.at(-2))
    expect(waits.at(-1)).toBeLessThanOrEqual(66)
    await clock.advance(66 * minute)
    stateOf(of('acme/shop'), 'acme')
    await answer(digest('a'))
    expect(stateOf(of('acme/shop'), 'acme').problem).toBeUndefined()
  })
})

describe('many tags', () => {
  test('four requests at once, in turns by tenant', async () => {
    const { asked, answer, stateOf } = watch()
    for (let n = 0; n < 30; n++) stateOf(of(`globex/a${n}`), 'globex')
    stateOf(of('acme/shop'), 'acme')
    await settle()
    expect(asked).toHaveLength(4)
    await answer(away)
    await answer(away)
    expect(asked).toHaveLength(6)
    expect(asked).toContain('ghcr.io/acme/shop')
  })

  test('a registry that asks for fewer requests gets none of anybody until then; others are asked', async () => {
    const { clock, asked, answer, stateOf } = watch()
    stateOf(of('acme/shop'), 'acme')
    await answer({ kind: 'unreadable', message: 'asks for fewer requests', pauseSeconds: 900 })
    for (const repository of ['globex/one', 'globex/two', 'acme/shop']) stateOf(of(repository), 'globex')
    await settle()
    expect(asked).toEqual(['ghcr.io/acme/shop'])
    expect(stateOf(of('globex/one'), 'globex')).toMatchObject({ digest: undefined, problem: 'asks for fewer requests' })
    stateOf(of('acme/shop', 'quay.io'), 'acme')
    await settle()
    expect(asked).toEqual(['ghcr.io/acme/shop', 'quay.io/acme/shop'])
    await clock.advance(15 * minute - 1)
    for (const repository of ['globex/one', 'acme/shop']) stateOf(of(repository), 'globex')
    await settle()
    expect(asked).toHaveLength(2)
    await clock.advance(3 * minute + 2)
    for (const repository of ['globex/one', 'acme/shop']) stateOf(of(repository), 'globex')
    await settle()
    expect(asked).toHaveLength(4)
  })

  test.each([
    [0, 5],
    [10_000_000, 60],
  ])('no registry shortens the five minutes or pauses for more than an hour: %i s', async (pauseSeconds, minutes) => {
    const { answer, stateOf } = watch()
    stateOf(of('acme/shop'), 'acme')
    await answer({ kind: 'unreadable', message: 'asks for fewer requests', pauseSeconds })
    const { requeueAfterMilliseconds } = stateOf(of('acme/shop'), 'acme')
    expect(requeueAfterMilliseconds).toBeGreaterThanOrEqual(minutes * minute)
    expect(requeueAfterMilliseconds).toBeLessThanOrEqual(minutes * minute * 1.2)
  })
})
