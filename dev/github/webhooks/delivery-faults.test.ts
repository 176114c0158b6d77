// The faults of webhooks: lost, duplicated, late, out of order, and what the list of deliveries shows for each.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { install, signIn } from '../testing/people.ts'
import { createRestClients, type RestClients } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients
let from: number

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ app: { webhookUrl: receiver.url } })
  clients = createRestClients(emulator)
  await install(emulator, await signIn(emulator, 'olivia'), 2001, { repositoryIds: 'all' })
  await emulator.context.webhooks.idle()
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})
beforeEach(() => {
  from = receiver.received.length
})
afterEach(() => emulator.context.faults.reset())

function push(number: number): void {
  emulator.context.webhooks.emit({ name: 'push', action: null, accountId: 2001, repositoryId: 4001, payload: { number } })
}

async function came() {
  await emulator.context.webhooks.idle()
  return receiver.received.slice(from)
}

async function numbers() {
  return (await came()).map(one => one.payload['number'])
}

async function newest() {
  return (await clients.app.request('GET /app/hook/deliveries', { per_page: 1 })).data[0]
}

test('lost without a trace: neither sent nor in the list', async () => {
  const before = await newest()
  emulator.context.faults.arm({ kind: 'lost-webhook', event: 'push' })
  push(1)
  expect(await numbers()).toEqual([])
  expect(await newest()).toEqual(before)
})

test('lost and listed as failed: redelivery sends it under the same GUID', async () => {
  emulator.context.faults.arm({ kind: 'lost-webhook', event: 'push', record: 'failure' })
  push(2)
  expect(await numbers()).toEqual([])
  const lost = await newest()
  expect(lost).toMatchObject({ event: 'push', status: 'failed to connect to host', status_code: 502 })
  await clients.app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(lost?.id) })
  expect((await came()).map(one => [one.guid, one.payload['number']])).toEqual([[lost?.guid, 2]])
})

test('lost and listed as a success: only the missing GUID shows it', async () => {
  emulator.context.faults.arm({ kind: 'lost-webhook', event: 'push', record: 'success' })
  push(3)
  expect(await numbers()).toEqual([])
  expect(await newest()).toMatchObject({ event: 'push', status: 'OK', status_code: 200 })
})

test.each([
  [false, 1],
  [true, 2],
])('duplicated, with its own GUID: %s', async (newGuid, guids) => {
  emulator.context.faults.arm({ kind: 'doubled-webhook', event: 'push', newGuid })
  push(4)
  const both = await came()
  expect(both.map(one => one.payload['number'])).toEqual([4, 4])
  expect(new Set(both.map(one => one.body)).size).toBe(1)
  expect(new Set(both.map(one => one.guid)).size).toBe(guids)
})

test('late: later ones overtake it', async () => {
  emulator.context.faults.arm({ kind: 'late-webhook', event: 'push', milliseconds: 1500 })
  for (const number of [5, 6, 7]) push(number)
  await receiver.waitFor(one => one.payload['number'] === 7)
  expect(receiver.received.slice(from).map(one => one.payload['number'])).toEqual([6, 7])
  expect(await numbers()).toEqual([6, 7, 5])
})

test('reordered: it arrives after the next one, or alone after the time', async () => {
  emulator.context.faults.arm({ kind: 'reordered-webhook', event: 'push', milliseconds: 60_000 })
  for (const number of [8, 9, 10]) push(number)
  expect(await numbers()).toEqual([9, 8, 10])
  emulator.context.faults.arm({ kind: 'reordered-webhook', event: 'push', milliseconds: 50 })
  push(11)
  expect(await numbers()).toEqual([9, 8, 10, 11])
})

test('applies only to the event and action of the fault', async () => {
  emulator.context.faults.arm({ kind: 'lost-webhook', event: 'pull_request', action: 'closed' }, 1)
  push(12)
  emulator.context.webhooks.emit({
    name: 'pull_request',
    action: 'opened',
    accountId: 2001,
    repositoryId: 4001,
    payload: { number: 13 },
  })
  emulator.context.webhooks.emit({
    name: 'pull_request',
    action: 'closed',
    accountId: 2001,
    repositoryId: 4001,
    payload: { number: 14 },
  })
  expect(await numbers()).toEqual([12, 13])
})

test('an emulator that stops does not wait for delayed ones', async () => {
  const other = await startStockedEmulator({ app: { webhookUrl: receiver.url } })
  await install(other, await signIn(other, 'olivia'), 2001, { repositoryIds: 'all' })
  await other.context.webhooks.idle()
  other.context.faults.arm({ kind: 'late-webhook', milliseconds: 600_000 })
  other.context.webhooks.emit({ name: 'push', action: null, accountId: 2001, repositoryId: 4001, payload: {} })
  // Waiting for it would take ten minutes.
  await other.stop()
  expect(other.context.faults.list()).toEqual([])
})
