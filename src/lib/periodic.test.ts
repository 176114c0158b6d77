// The periodic loop: one round after the other, survives failures, stops on request.
import { describe, expect, test } from 'vitest'
import type { LogFields } from './log.ts'
import { type PeriodicOptions, periodic } from './periodic.ts'
import { createFakeClock, settle } from './testing/fake-clock.ts'

function fixture(work: PeriodicOptions['work'], more: Partial<PeriodicOptions> = {}) {
  const clock = createFakeClock()
  const errors: LogFields[] = []
  const log = { error: (fields: LogFields, message: string) => errors.push({ ...fields, message }) }
  return { clock, errors, loop: periodic({ name: 'sweep', everyMilliseconds: 1000, work, clock, log, ...more }) }
}

describe('a periodic loop', () => {
  test('runs at once and then after each interval, until it is stopped', async () => {
    let rounds = 0
    const { clock, loop } = fixture(async () => ++rounds)
    loop.start()
    loop.start()
    await clock.advance(0)
    expect(rounds).toBe(1)
    await clock.advance(2000)
    expect(rounds).toBe(3)
    await loop.stop()
    await clock.advance(5000)
    expect(rounds).toBe(3)
    expect(clock.sleepers()).toBe(0)
  })

  test('waits first when the work was just done', async () => {
    let rounds = 0
    const { clock, loop } = fixture(async () => ++rounds, { waitsFirst: true })
    loop.start()
    await clock.advance(999)
    expect(rounds).toBe(0)
    await clock.advance(1)
    expect(rounds).toBe(1)
    await loop.stop()
  })

  test('logs a failed round without tokens, and continues', async () => {
    let rounds = 0
    const { clock, errors, loop } = fixture(async () => {
      rounds += 1
      throw new Error(`refused ghs_${'a'.repeat(36)}`)
    })
    loop.start()
    await clock.advance(1000)
    expect(rounds).toBe(2)
    expect(errors[0]).toEqual({ error: 'refused [redacted]', message: 'sweep failed' })
    await loop.stop()
  })

  test('skips rounds while it is not enabled', async () => {
    let rounds = 0
    let leads = false
    const { clock, loop } = fixture(async () => ++rounds, { enabled: () => leads })
    loop.start()
    await clock.advance(1000)
    expect(rounds).toBe(0)
    leads = true
    await clock.advance(1000)
    expect(rounds).toBe(1)
    await loop.stop()
  })

  test('a wake during a round brings another round at once; a wake during the wait ends it', async () => {
    const rounds: PromiseWithResolvers<void>[] = []
    const { loop } = fixture(() => {
      const round = Promise.withResolvers<void>()
      rounds.push(round)
      return round.promise
    })
    loop.start()
    loop.wake()
    rounds[0]?.resolve()
    await settle()
    expect(rounds).toHaveLength(2)
    rounds[1]?.resolve()
    await settle()
    loop.wake()
    await settle()
    expect(rounds).toHaveLength(3)
    rounds[2]?.resolve()
    await loop.stop()
  })

  test('stop waits for the round in progress, whose signal is aborted', async () => {
    let aborted = false
    let ended = false
    const { loop } = fixture(async signal => {
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      aborted = signal.aborted
      await settle()
      ended = true
      throw new Error('aborted')
    })
    loop.start()
    await settle()
    await loop.stop()
    expect([aborted, ended]).toEqual([true, true])
  })

  test('stop before start ends at once', async () => {
    const { loop } = fixture(async () => undefined)
    await expect(loop.stop()).resolves.toBeUndefined()
  })
})
