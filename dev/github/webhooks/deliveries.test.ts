// The list of deliveries for an App: pages by cursor, how far back it reaches, time-outs, sizes, redelivery.
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { RunningEmulator } from '../emulator.ts'
import { days } from '../state/clock.ts'
import { createRestClients, type RestClients, refusal } from '../testing/rest-client.ts'
import { startStockedEmulator } from '../testing/stocked-emulator.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts'
import { createSender, type Delivery } from './delivery.ts'
import { openDeliveryLog } from './delivery-log.ts'

/** git and the validation are slow on a busy machine. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let emulator: RunningEmulator
let receiver: WebhookReceiver
let clients: RestClients

beforeAll(async () => {
  receiver = await startWebhookReceiver()
  emulator = await startStockedEmulator({ flavour: 'github.com', app: { webhookUrl: receiver.url } })
  clients = createRestClients(emulator)
  emulator.context.webhooks.emitToApp(app(), { name: 'ping', action: null, payload: { number: 0 } })
})
afterAll(async () => {
  await emulator.stop()
  await receiver.close()
})

function app() {
  const [found] = emulator.context.state.apps
  if (!found) throw new Error('no App')
  return found
}

function ping(payload: Record<string, unknown>): void {
  emulator.context.webhooks.emitToApp(app(), { name: 'ping', action: null, payload })
}

function settle() {
  return emulator.context.webhooks.idle()
}

describe('the list', () => {
  test('a client walks all of it by cursor, newest first, while new ones come in', async () => {
    for (let number = 1; number <= 24; number += 1) ping({ number })
    await settle()
    const seen: number[] = []
    for await (const { data } of clients.app.paginate.iterator('GET /app/hook/deliveries', { per_page: 10 })) {
      seen.push(...data.map(one => Number(one.id)))
      ping({ number: 100 })
      await settle()
    }
    expect(seen.length).toBe(25)
    expect(seen).toEqual([...seen].sort((left, right) => right - left))
    expect(new Set(seen).size).toBe(25)
  })

  test('a page has 30 entries, at most 100; a malformed cursor is refused', async () => {
    for (let number = 0; number < 120; number += 1) ping({ number })
    await settle()
    const size = async (options: Record<string, number>) =>
      (await clients.app.request('GET /app/hook/deliveries', options)).data.length
    expect([await size({}), await size({ per_page: 1000 })]).toEqual([30, 100])
    expect((await refusal(clients.app.request('GET /app/hook/deliveries', { cursor: 'x' }))).status).toBe(422)
  })

  test('it can be filtered by failures', async () => {
    receiver.answer(500)
    ping({ failing: true })
    await settle()
    receiver.answer(200)
    const { data } = await clients.app.request('GET /app/hook/deliveries', { status: 'failure' })
    expect(data.map(one => one.status_code)).toEqual([500])
    const whole = await clients.app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: Number(data[0]?.id) })
    expect(whole.data).toMatchObject({ request: { payload: { failing: true } }, response: { payload: 'taken' } })
  })

  test('redelivery: same GUID and payload, new id, a valid signature; the first delivery stays', async () => {
    const [failed] = (await clients.app.request('GET /app/hook/deliveries', { status: 'failure' })).data
    await clients.app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(failed?.id) })
    await settle()
    const [again] = (await clients.app.request('GET /app/hook/deliveries')).data
    expect(again).toMatchObject({ guid: failed?.guid, redelivery: true, status_code: 200 })
    expect(Number(again?.id)).toBeGreaterThan(Number(failed?.id))
    const arrived = receiver.received.filter(one => one.guid === failed?.guid)
    expect(arrived.map(one => [one.body, one.signature])).toEqual(
      Array.from({ length: 2 }, () => [arrived[0]?.body, arrived[0]?.signature]),
    )
    expect((await clients.app.request('GET /app/hook/deliveries', { status: 'failure' })).data.length).toBe(1)
  })

  test('a payload larger than 25 MB is neither sent nor listed', async () => {
    const [before] = (await clients.app.request('GET /app/hook/deliveries')).data
    ping({ text: 'x'.repeat(25 * 1024 * 1024) })
    await settle()
    expect((await clients.app.request('GET /app/hook/deliveries')).data[0]?.id).toBe(before?.id)
    ping({ text: 'x'.repeat(25 * 1024 * 1024 - 100) })
    await settle()
    expect((await clients.app.request('GET /app/hook/deliveries')).data[0]).toMatchObject({ status: 'OK' })
  })

  test('after three days a delivery can neither be listed nor repeated', async () => {
    const [last] = (await clients.app.request('GET /app/hook/deliveries')).data
    emulator.context.faults.arm({ kind: 'clock-skew', seconds: 3 * 86_400 - 60 })
    expect((await clients.app.request('GET /app/hook/deliveries')).data[0]?.id).toBe(last?.id)
    emulator.context.faults.arm({ kind: 'clock-skew', seconds: 120 })
    expect((await clients.app.request('GET /app/hook/deliveries')).data).toEqual([])
    const again = clients.app.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: Number(last?.id) })
    expect((await refusal(again)).status).toBe(404)
    emulator.context.faults.reset()
  })
})

test('a receiver that does not answer in time is a logged time-out', async () => {
  const server = createServer(() => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const sender = createSender(undefined, 100)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(await sender.send(url, {}, '{}')).toMatchObject({ status: 'timed out', statusCode: 504 })
  await sender.close()
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

describe('the file', () => {
  const delivery = (at: number, payload = ''): Omit<Delivery, 'id'> => ({
    guid: 'guid',
    appId: 1,
    event: 'push',
    action: null,
    installationId: null,
    repositoryId: null,
    url: '',
    redelivery: false,
    deliveredAt: new Date(at).toISOString(),
    duration: 0,
    status: 'OK',
    statusCode: 200,
    request: { headers: {}, payload },
    response: { headers: {}, payload: '' },
  })

  test('keeps 10,000 deliveries and drops old ones, also across a restart; ids are never reused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'delivery-log-'))
    const file = join(folder, 'deliveries.jsonl')
    let time = days(100)
    const options = { now: () => time, window: days(3) }
    const first = await openDeliveryLog(file, options)
    await first.add(delivery(time))
    const [oldest] = first.list(1)
    time += days(3) + 1
    await first.add(delivery(time))
    const second = await openDeliveryLog(file, options)
    expect(second.list(1).map(one => one.id)).toEqual([Number(oldest?.id) + 1])
    for (let count = 0; count < 10_000; count += 1) await second.add(delivery(time))
    expect(second.list(1).length).toBe(10_000)
    expect(second.find(1, Number(oldest?.id) + 1)).toBeUndefined()
    await rm(folder, { recursive: true })
  })
})
