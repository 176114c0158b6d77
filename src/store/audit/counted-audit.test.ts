// Counting equal events: what is durable before the caller goes on, how many records a flood makes, and what a failure leaves.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { type CountedEvent, createCountedAudit } from './counted-audit.ts'

const minute = 60_000

function recordOf(reason: string): AuditRecord {
  return {
    action: 'token.refused',
    actor: 'system:serviceaccount:acme:runner',
    namespace: 'acme',
    object: 'RepositoryGrant/acme/read-shop',
    outcome: 'denied',
    reason,
    details: { check: 'NotASubject' },
  }
}

function eventOf(key: string): CountedEvent {
  const within = { scope: 'acme', most: 3, others: recordOf('others') }
  return { record: recordOf(key), key, windowMilliseconds: minute, within }
}

function environment() {
  const clock = createFakeClock()
  const written: AuditRecord[] = []
  const state = { fails: false, wait: Promise.resolve() }
  const audit = {
    async append(record: AuditRecord) {
      await state.wait
      if (state.fails) throw new AppError('unavailable', 'the audit log is not writable')
      written.push(record)
    },
  }
  const counted = createCountedAudit({ audit, clock, log: silentLog })
  const lines = () => written.map(({ reason, details }) => `${reason} ${details['count'] ?? ''}`.trim())
  return { clock, state, counted, written, lines }
}

test('a flood of one event is two records a window, and every event is counted', async () => {
  const { clock, counted, written } = environment()
  for (let second = 0; second < 600; second++) {
    for (let request = 0; request < 10; request++) await counted.append(eventOf('a'))
    await clock.advance(1000)
    await counted.flush()
  }
  await counted.flush(true)
  expect(written.length).toBeLessThanOrEqual(20)
  const total = written.reduce((sum, { details }) => sum + Number(details['count'] ?? 1), 0)
  expect(total).toBe(6000)
})

test('different events of one tenant are bounded, too, and another tenant has its own bound', async () => {
  const { counted, lines } = environment()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'a', 'f']) await counted.append(eventOf(key))
  const within = { scope: 'globex', most: 3, others: recordOf('others') }
  await counted.append({ ...eventOf('theirs'), within })
  await counted.flush(true)
  expect(lines()).toEqual(['a', 'b', 'c', 'others', 'theirs', 'a 1', 'others 2'])
})

test('nobody goes on before the first record is durable, and a log that fails lets nobody go on', async () => {
  const { state, counted, written } = environment()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.wait = promise
  const done: string[] = []
  const both = ['first', 'second'].map(name => counted.append(eventOf('a')).then(() => done.push(name)))
  await settle()
  expect(done).toEqual([])
  resolve()
  await Promise.all(both)
  expect(done).toEqual(['first', 'second'])
  state.fails = true
  const failing = [counted.append(eventOf('b')), counted.append(eventOf('b'))]
  for (const result of await Promise.allSettled(failing)) expect(result.status).toBe('rejected')
  state.fails = false
  await counted.append(eventOf('b'))
  await counted.flush(true)
  expect(written.filter(({ reason }) => reason === 'b')).toHaveLength(1)
})

test('a number that could not be written is written later', async () => {
  const { clock, state, counted, lines } = environment()
  await counted.append(eventOf('a'))
  await counted.append(eventOf('a'))
  await clock.advance(minute)
  state.fails = true
  await counted.flush()
  state.fails = false
  await counted.flush()
  await counted.flush()
  expect(lines()).toEqual(['a', 'a 1'])
})

test('the window that follows begins with a record of its own, after the number of the one before', async () => {
  const { clock, counted, lines } = environment()
  await counted.append(eventOf('a'))
  await counted.append(eventOf('a'))
  await clock.advance(minute)
  await counted.append(eventOf('a'))
  expect(lines()).toEqual(['a', 'a 1', 'a'])
})
