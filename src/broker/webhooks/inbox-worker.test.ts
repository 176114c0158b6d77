import { expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import type { ClaimedDelivery, Inbox } from '../../store/inbox/inbox.ts'
import { createInboxWorker } from './inbox-worker.ts'

function memoryInbox() {
  const waiting: ClaimedDelivery[] = []
  const handled: [string, string][] = []
  const released: [string, number][] = []
  const inbox: Inbox = {
    receive: async () => 'stored',
    claim: async limit => waiting.splice(0, limit),
    markHandled: async (id, outcome) => void handled.push([id, outcome]),
    release: async (id, seconds) => void released.push([id, seconds]),
    backlog: async () => ({ depth: waiting.length }),
    deleteHandledBefore: async () => 0,
  }
  const put = (id: string, attempts = 1): void =>
    void waiting.push({ id, attempts, deliveryId: id, event: 'push', host: 'h', receivedAt: new Date(), body: Buffer.from('{}') })
  return { inbox, handled, released, put }
}

function worker(inbox: Inbox, handle: (delivery: ClaimedDelivery) => Promise<string>) {
  return createInboxWorker({ inbox, handle, clock: systemClock, random: () => 0.5, log: silentLog })
}

test('handles what is there at the start and, when woken, what was stored since, at once', async () => {
  const { inbox, handled, put } = memoryInbox()
  put('before')
  const running = worker(inbox, async () => 'woken')
  running.start()
  await waitUntil('the first delivery to be handled', () => {
    expect(handled).toEqual([['before', 'woken']])
    return true
  })
  put('after')
  running.wake()
  await waitUntil('the second delivery to be handled', seen => seen(handled).length === 2)
  await running.stop()
})

test('one failing delivery is released and does not delay the others', async () => {
  const { inbox, handled, released, put } = memoryInbox()
  put('bad')
  put('good')
  const running = worker(inbox, async ({ id }) => {
    if (id === 'bad') throw new Error('the API server is away')
    return 'woken'
  })
  running.start()
  await waitUntil('the failed delivery to be released', seen => seen(released).length === 1)
  expect(handled).toEqual([['good', 'woken']])
  expect(released[0]?.[1]).toBeGreaterThan(0)
  await running.stop()
})

test('a delivery that can never be handled, or failed too often, is given up', async () => {
  const { inbox, handled, put } = memoryInbox()
  put('nonsense')
  put('old', 40)
  const running = worker(inbox, async ({ id }) => {
    throw id === 'nonsense' ? new AppError('invalid_request', 'no event') : new Error('still away')
  })
  running.start()
  await waitUntil('both deliveries to fail', () => {
    expect(handled.map(([, outcome]) => outcome)).toEqual(['failed', 'failed'])
    return true
  })
  await running.stop()
})
